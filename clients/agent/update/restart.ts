import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import type { Agent } from './installation.js';
import { startEntry } from './service.js';
import { waitForEnd } from './wait.js';

/** Maximum time for an application that started the agent to end when nothing is replaced. */
const EXIT_WAIT_SECONDS = 5;

export class ApplicationRestart {
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
    this.agent.output.printNote('stopping', { service }, `stopping ${service}`);
    await this.agent.control('stop', service);
  }

  /**
   * Runs after the lock is released: the service may use the agent for recovery before it starts
   * (`ExecStartPre`).
   */
  async start(): Promise<void> {
    if (!this.#stopped && !(await this.#needsRestart())) return;
    const { service } = this.agent.options;
    if (service !== null) {
      this.agent.output.printNote('starting', { service }, `starting ${service}`);
      await this.agent.control('start', service);
      return;
    }
    const entry = this.installed?.entry ?? null;
    if (entry === null)
      this.agent.output.warn('--restart: neither an entry in the release nor a service in agent.json is set');
    else await startEntry(this.root, entry, this.agent.env);
  }

  /**
   * Returns true when the application started the agent and ended without an update: nothing else
   * would restart it.
   */
  async #needsRestart(): Promise<boolean> {
    const { restart, service, waitForPid } = this.agent.options;
    if (!restart || service !== null || waitForPid === null || this.installed === null) return false;
    return waitForEnd(waitForPid, EXIT_WAIT_SECONDS, this.agent.signal);
  }
}
