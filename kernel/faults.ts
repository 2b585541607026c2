/** Faults that can prevent a start. */
import { redactText } from '../lib/text/hidden-texts.js';

export interface Fault {
  plugin: string | null;
  fault: string;
  fix: string;
}

const toSingleLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').trim();

/** `plugin chat: needs "bugs.api", which no plugin provides; …`. */
export function formatFault({ plugin, fault, fix }: Fault): string {
  return toSingleLine(`${plugin === null ? 'configuration' : `plugin ${plugin}`}: ${fault}; ${fix}`);
}

export function formatFaults(faults: readonly Fault[]): string {
  const fixes = [...new Set(faults.map(({ fix }) => fix))];
  return toSingleLine([...faults.map(({ fault }) => fault), ...fixes].join('; '));
}

/**
 * All faults of the installed plugins and their configuration sections, one per line of `message`.
 */
export class PluginFaults extends Error {
  override name = 'PluginFaults';
  /** The command line prints one line instead of a list (contract 00, configuration). */
  readonly configuration: boolean;

  constructor(readonly faults: readonly Fault[]) {
    super(faults.map(formatFault).join('\n'));
    this.configuration = faults.every((fault) => fault.plugin === null);
  }
}

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

/** Explicitly requested migrations failed. */
export class MigrationsFailed extends Error {
  override name = 'MigrationsFailed';
  constructor(failed: readonly { id: string; error: unknown }[]) {
    super(failed.map(({ id, error }) => `migration ${id} failed: ${getFaultReason(error)}`).join('; '), {
      cause: failed[0]?.error,
    });
  }
}

export class BootStopped extends Error {
  override name = 'BootStopped';
  constructor() {
    super('stopped while starting');
  }
}

/** Describes a thrown value in one line without secret settings, because it is stored and shown. */
export function getFaultReason(thrown: unknown): string {
  const text = redactText(thrown instanceof Error ? thrown.message : String(thrown));
  return toSingleLine(text) || (thrown instanceof Error ? thrown.name : '');
}
