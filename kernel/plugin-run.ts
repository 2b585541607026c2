import type { PluginState } from '../ports/domain/system.js';
import type { PluginParts } from './contract/index.js';
import type { FullManifest } from './manifest.js';
import type { RegisteredPlugin } from './plugin-registry.js';

export class PluginRun {
  state: PluginState['state'] = 'starting';
  reason: string | null = null;
  parts: PluginParts = {};

  constructor(readonly registered: RegisteredPlugin) {}

  get id(): string {
    return this.registered.manifest.id;
  }

  get manifest(): FullManifest {
    return this.registered.manifest;
  }

  readonly isReady = (): boolean => this.state === 'ready';

  fail(reason: string): void {
    this.state = 'failed';
    this.reason = reason;
  }

  describe(): PluginState {
    const { id, title, version, critical, decidesHealth: decides_health } = this.manifest;
    return { id, title, version, critical, decides_health, state: this.state, reason: this.reason };
  }
}

export class ProvidedServices {
  readonly #values = new Map<string, { value: unknown; owner: PluginRun | null }>();

  provide(name: string, value: unknown, owner: PluginRun | null): void {
    this.#values.set(name, { value, owner });
  }

  /** Undefined without a running provider. */
  get(name: string): unknown {
    const found = this.#values.get(name);
    return found === undefined || found.owner?.state === 'failed' ? undefined : found.value;
  }
}
