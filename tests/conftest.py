"""Settings of Hypothesis for the whole suite: `gate`, or `prove` with --hypothesis-profile=prove."""

from hypothesis import HealthCheck, settings

# The gate gives the same verdict for the same code: fixed examples, whatever the machine's speed.
settings.register_profile(
    "gate",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# Proofs look for what the gate has not seen: other examples on each run, and many.
settings.register_profile("prove", settings.get_profile("gate"), derandomize=False, max_examples=2000)
settings.load_profile("gate")
