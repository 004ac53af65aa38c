"""What every process needs: settings, logs, metrics, health, shutdown, one map of errors for all edges."""
