// The steps of a game as the server has drawn them: which fragment of HTML lies in which slot at each step.

export class Film {
  #fragments = [];
  #steps = []; // by step from 0: for every slot the number of a fragment
  slots = [];
  tricks = [];
  positions = [];
  isRunning = false;

  get length() {
    return this.#steps.length;
  }

  /** Takes frames; their steps take the place of all from their first on. */
  absorb(frames) {
    const offset = this.#fragments.length;
    this.#fragments.push(...frames.fragments);
    this.#steps.length = frames.first - 1;
    this.slots = frames.slots;
    this.tricks = frames.tricks;
    this.positions = frames.positions;
    this.isRunning = frames.is_running;
    let parts = new Array(this.slots.length).fill(-1);
    for (const changes of frames.steps) {
      parts = parts.slice();
      for (let at = 0; at < changes.length; at += 2) parts[changes[at]] = changes[at + 1] + offset;
      this.#steps.push(parts);
    }
  }

  /** The number of the fragment in each slot at a step, from 1. */
  parts(step) {
    return this.#steps[step - 1];
  }

  html(part) {
    return this.#fragments[part];
  }

  /** The lines of all steps from one on. */
  items(first) {
    const item = this.slots.indexOf("item");
    return this.#steps.slice(first - 1).map((parts) => this.#fragments[parts[item]]);
  }
}
