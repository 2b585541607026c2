/** Detects jobs that block the event loop, and names them in the log. */

const CHECK_INTERVAL_MS = 250;
const BLOCKED_THRESHOLD_MS = 1_000;

export class EventLoopMonitor {
  readonly #running: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #checkedAt = 0;

  /** @param report called with the jobs that ran while the loop was blocked */
  constructor(private readonly report: (jobs: readonly string[], ms: number) => void) {}

  /** Call the result when the run ends. */
  trackJob(job: string): () => void {
    if (this.#running.length === 0) this.#start();
    this.#running.push(job);
    return () => {
      this.#check();
      this.#running.splice(this.#running.indexOf(job), 1);
      if (this.#running.length === 0) clearInterval(this.#timer);
    };
  }

  #start(): void {
    this.#checkedAt = performance.now();
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
  }

  #check(): void {
    const now = performance.now();
    const late = Math.round(now - this.#checkedAt - CHECK_INTERVAL_MS);
    this.#checkedAt = now;
    if (late >= BLOCKED_THRESHOLD_MS) this.report([...new Set(this.#running)], late);
  }
}
