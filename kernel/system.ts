/** What the kernel says about the running service, provided as the token `kernel.system`. */
import type { ListedPage, PluginState, SystemInfo, UnlistedProxy } from '../ports/domain/system.js';
import type { PageSpec, Role } from '../ports/http.js';
import type { HttpServer } from '../ports/http-server.js';
import type { Processes } from '../ports/processes.js';
import type { DocumentStore } from '../ports/store.js';
import type { RouteTools } from '../ports/tools.js';
import { reasonOf } from './faults.js';
import type { Migrator } from './migrator.js';
import type { PluginRun } from './plugin-run.js';
import { within } from './timeout.js';

/** A health function may take this long. */
const HEALTH_MS = 5_000;

/** Where this is unknown, no other process counts as gone. */
const ALONE: Processes = {
  self: () => Promise.resolve({ host: 'localhost', pid: process.pid, started: null }),
  dead: () => Promise.resolve(false),
};

/** A command runs no server. */
const NO_TOOLS: RouteTools = { list: () => [], call: () => Promise.resolve(null) };

export interface SystemParts {
  version: string;
  started_at: string;
  store: DocumentStore;
  http: HttpServer | undefined;
  runs: readonly PluginRun[];
  /** Plugins that are installed and switched off. */
  off: readonly PluginState[];
  migrator: Migrator;
  processes: Processes | undefined;
  freeBytes: () => Promise<number>;
  unlistedProxies: () => readonly UnlistedProxy[];
}

export class KernelSystem implements SystemInfo {
  readonly version: string;
  readonly node = process.version;
  readonly started_at: string;
  readonly engine: string;
  readonly processes: Processes;

  constructor(private readonly parts: SystemParts) {
    this.version = parts.version;
    this.started_at = parts.started_at;
    this.engine = parts.store.engine;
    this.processes = parts.processes ?? ALONE;
  }

  plugins(): readonly PluginState[] {
    return [...this.parts.runs.map((run) => run.describe()), ...this.parts.off];
  }

  async health(): ReturnType<SystemInfo['health']> {
    const all = await Promise.all(this.parts.runs.map(async (run) => [run.id, await healthOf(run)] as const));
    return Object.fromEntries(all);
  }

  pingStore(): Promise<number> {
    return this.parts.store.ping();
  }

  storeBytes(): Promise<number | null> {
    return this.parts.store.size();
  }

  unlistedProxies(): readonly UnlistedProxy[] {
    return this.parts.unlistedProxies();
  }

  freeBytes(): Promise<number> {
    return this.parts.freeBytes();
  }

  async migrations(): ReturnType<SystemInfo['migrations']> {
    const { migrator } = this.parts;
    const applied = await migrator.applied();
    const pending = await migrator.pending(applied);
    return { applied, pending, current: applied.at(-1)?.id ?? null };
  }

  async migrate(): ReturnType<SystemInfo['migrate']> {
    const { applied, pending } = await this.parts.migrator.run();
    return { applied, pending };
  }

  scopes(): readonly string[] {
    return this.parts.runs.flatMap((run) => run.manifest.scopes);
  }

  events(): readonly string[] {
    return this.parts.runs.flatMap((run) => run.manifest.events);
  }

  pages(role: Role): readonly ListedPage[] {
    return this.parts.runs
      .flatMap((run) => (run.ready() ? (run.parts.pages ?? []) : []))
      .flatMap(({ path, nav, access }) =>
        nav !== undefined && mayOpen(access, role) ? [{ href: path, label: nav.label, also: nav.also ?? [] }] : [],
      );
  }

  async openapi(): Promise<object> {
    return (await this.parts.http?.openapi()) ?? {};
  }

  tools(): RouteTools {
    return this.parts.http?.tools() ?? NO_TOOLS;
  }
}

const mayOpen = (access: PageSpec['access'], role: Role): boolean =>
  access === 'public' || role === 'admin' || (role === 'member' && access.session === 'member');

async function healthOf(run: PluginRun): Promise<{ ok: boolean; [detail: string]: unknown }> {
  if (!run.ready()) return { ok: false, error: run.reason ?? run.state };
  try {
    return (await within(HEALTH_MS, 'health', async () => run.parts.health?.())) ?? { ok: true };
  } catch (error) {
    return { ok: false, error: reasonOf(error) };
  }
}
