/** `--restart`: what was stopped for an update is started after it, whether it was committed or taken back. */
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import type { Agent } from './installation.js';
import { startEntry } from './service.js';
import { endsWithin } from './wait.js';

/** How long an application that started the agent may take to end where nothing is replaced. */
const ENDING_SECONDS = 5;

export class Restart {
  /** What lies there at the end: the new version, or the old one. */
  installed: ReleaseManifest | null = null;
  root: string;
  #stopped = false;

  constructor(private readonly agent: Agent) {
    this.root = agent.options.dir;
  }

  /** Once, also where an update goes in steps. */
  async stop(): Promise<void> {
    const { restart, service } = this.agent.options;
    if (!restart || this.#stopped) return;
    this.#stopped = true;
    if (service === null) return;
    this.agent.output.note('stopping', { service }, `stopping ${service}`);
    await this.agent.control('stop', service);
  }

  /** After the lock is free: the service may ask the agent to recover before it starts (`ExecStartPre`). */
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

  /** The application started the agent and ended, and nothing was to be replaced: nobody else would start it again. */
  async #leftAlone(): Promise<boolean> {
    const { restart, service, waitForPid } = this.agent.options;
    if (!restart || service !== null || waitForPid === null || this.installed === null) return false;
    return endsWithin(waitForPid, ENDING_SECONDS, this.agent.signal);
  }
}
