/**
 * What can stop a start. Faults are found before anything runs and reported together: an operator corrects one list,
 * not one line per attempt. Rejected: throwing at the first fault.
 */
import { redactText } from '../lib/text/hidden-texts.js';

/** One fault and its remedy. Both are single sentences without a full stop. */
export interface Fault {
  /** The plugin's id, or the entry of `plugins` where the id is not known. Null: the configuration itself. */
  plugin: string | null;
  fault: string;
  mend: string;
}

const flat = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').trim();

/** `plugin chat: needs "bugs.api", which no plugin provides; …`, always one line. */
export function formatFault({ plugin, fault, mend }: Fault): string {
  return flat(`${plugin === null ? 'configuration' : `plugin ${plugin}`}: ${fault}; ${mend}`);
}

/** `needs "bugs.api", which no plugin provides; …` of all faults of one plugin, in one line. */
export function formatFaults(faults: readonly Fault[]): string {
  const mends = [...new Set(faults.map(({ mend }) => mend))];
  return flat([...faults.map(({ fault }) => fault), ...mends].join('; '));
}

/** Every fault of the installed plugins and of their sections of the configuration, one per line of `message`. */
export class PluginFaults extends Error {
  override name = 'PluginFaults';
  /** Only the configuration is at fault: the command line prints one line and no list (contract 00, configuration). */
  readonly configuration: boolean;

  constructor(readonly faults: readonly Fault[]) {
    super(faults.map(formatFault).join('\n'));
    this.configuration = faults.every((fault) => fault.plugin === null);
  }
}

/** A critical plugin failed, so the service does not start. */
export class CriticalPluginFailed extends Error {
  override name = 'CriticalPluginFailed';
  constructor(
    readonly plugin: string,
    readonly reason: string,
    cause?: unknown,
  ) {
    super(`plugin ${plugin} failed: ${reason}`, { cause });
  }
}

/** Migrations failed that were asked for. Those of other plugins are applied. */
export class MigrationsFailed extends Error {
  override name = 'MigrationsFailed';
  constructor(failed: readonly { id: string; error: unknown }[]) {
    super(failed.map(({ id, error }) => `migration ${id} failed: ${getFaultReason(error)}`).join('; '), {
      cause: failed[0]?.error,
    });
  }
}

/** `stop()` was called while the kernel was still booting. */
export class BootStopped extends Error {
  override name = 'BootStopped';
  constructor() {
    super('stopped while starting');
  }
}

/** One line for a person that says what was thrown, of any kind, without secret settings: it is stored and shown. */
export function getFaultReason(thrown: unknown): string {
  const text = redactText(thrown instanceof Error ? thrown.message : String(thrown));
  return flat(text) || (thrown instanceof Error ? thrown.name : '');
}
