import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import type { Agent } from './installation.js';
import { startEntry } from './service.js';
import { endsWithin } from './wait.js';

/** Maximum time for an application that started the agent to end when nothing is replaced. */
const ENDING_SECONDS = 5;

export class Restart {
  installed: ReleaseManifest | null = null;
  root: string;
  #stopped = false;

  constructor(private readonly agent: Agent) {
    this.root = agent.options.dir;
  }

  /** Runs once, also for updates in several steps. */
  async stop(): Promise<void> {
    const { restart, service } = this.agent.options;
    if (!restart || this.#stopped) return;
    this.#stopped = true;
    if (service === null) return;
    this.agent.output.note('stopping', { service }, `stopping ${service}`);
    await this.agent.control('stop', service);
  }

  /**
   * Runs after the lock is released: the service may use the agent for recovery before it starts
   * (`ExecStartPre`).
   */
  async start(): Promise<void> {
    if (!this.#stopped && !(await this.#leftAlone())) return;
    const { service } = this.agent.options;
    if (service !== null) {
      this.agent.output.note('starting', { service }, `starting ${service}`);
      await this.agent.control('start', service);
      return;
    }
    const entry = this.installed?.entry ?? null;
    if (entry === null) this.agent.output.warning('--restart: the release names no entry, and agent.json no service');
    else await startEntry(this.root, entry, this.agent.env);
  }

  /**
   * Returns true when the application started the agent and ended without an update: nothing else
   * would restart it.
   */
  async #leftAlone(): Promise<boolean> {
    const { restart, service, waitForPid } = this.agent.options;
    if (!restart || service !== null || waitForPid === null || this.installed === null) return false;
    return endsWithin(waitForPid, ENDING_SECONDS, this.agent.signal);
  }
}
