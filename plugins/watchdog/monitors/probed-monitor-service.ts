/**
 * The probes plugin stores the probes (contract 30, probes). Order: validate the probe, write the
 * monitor, write its probe. A deletion removes the probe first, so that a new monitor of the same
 * source never finds an old one (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import type { MonitorFields, MonitorView, MonitorProbes } from '../../../ports/domain/watchdog.js';
import type { Json } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { WatchdogCaller } from '../model/caller.js';
import { toMonitorView } from '../model/monitor-view.js';
import { MonitorService, type MonitorUpdate } from './monitor-service.js';

/** Absent leaves it unchanged. */
export interface ProbeInput {
  probe?: object | null;
}

export type ProbedMonitorView = MonitorView & { probe: Record<string, Json> | null };

@injectable()
export class ProbedMonitorService {
  constructor(
    @inject(DEPS.probes) private readonly probes: () => MonitorProbes | null,
    @inject(MonitorService) private readonly monitors: MonitorService,
  ) {}

  /** @throws ServiceError as `MonitorService.getMonitor` */
  async getView(name: string, caller: WatchdogCaller): Promise<ProbedMonitorView> {
    const doc = await this.monitors.getMonitor(name, caller);
    return this.#addProbe(await this.monitors.toCallerView(toMonitorView(doc), caller));
  }

  /** @throws ServiceError as `MonitorService.create`, and validation_failed */
  async create({ probe, ...fields }: MonitorFields & ProbeInput, caller: WatchdogCaller): Promise<ProbedMonitorView> {
    const checked = await this.#validateProbe(probe, fields.source);
    const made = await this.monitors.create(fields, caller);
    await checked?.save();
    return this.#addProbe(made);
  }

  /** @throws ServiceError as `MonitorService.update`, and validation_failed */
  async update(
    name: string,
    { probe, ...fields }: MonitorUpdate & ProbeInput,
    caller: WatchdogCaller,
  ): Promise<ProbedMonitorView> {
    const { source } = await this.monitors.getMonitor(name, caller);
    const checked = await this.#validateProbe(probe, source);
    const edited = await this.monitors.update(name, fields, caller);
    await checked?.save();
    return this.#addProbe(edited);
  }

  /** @throws ServiceError as `MonitorService.remove` */
  async remove(name: string, caller: WatchdogCaller): Promise<string> {
    const { source } = await this.monitors.getMonitor(name, caller);
    await this.probes()?.save(source, null);
    return this.monitors.remove(name, caller);
  }

  async #addProbe(view: MonitorView): Promise<ProbedMonitorView> {
    return { ...view, probe: (await this.probes()?.find(view.source)) ?? null };
  }

  listWarnings({ probe }: ProbeInput): { warnings?: string[] } {
    const warnings = this.probes()?.listUnknownFields(probe) ?? [];
    return warnings.length === 0 ? {} : { warnings };
  }

  /**
   * Null when nothing must be written.
   * @throws ServiceError validation_failed
   */
  async #validateProbe(probe: unknown, source: string): Promise<{ save: () => Promise<void> } | null> {
    const probes = this.probes();
    if (probe === undefined || (probe === null && probes === null)) return null;
    if (probes === null) throw invalid({ probe: 'is not supported: the plugin probes is disabled' });
    const checked = await probes.validate(probe, source);
    return { save: () => probes.save(source, checked) };
  }
}
