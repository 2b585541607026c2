import { AgentFailure } from '../exit.js';
import type { ConfigFile } from './config-file.js';
import { OPTION_SPECS, type OptionName, type OptionSpec } from './table.js';

export type OptionValues = Partial<Record<OptionName, string | boolean | string[]>>;

/**
 * Reads the option values of a config file.
 * @throws AgentFailure usage for an unknown option, or one that a file may not contain
 */
export function toOptionValues({ path, values }: ConfigFile): OptionValues {
  const found: OptionValues = {};
  for (const [key, value] of Object.entries(values)) {
    const name = key.replaceAll('_', '-');
    const where = `${key} in ${path}`;
    if (name === 'password') throw new AgentFailure('usage', `${where}: set passwords in SVC_PASSWORD_FILE, not here`);
    const spec = Object.hasOwn(OPTION_SPECS, name) ? (OPTION_SPECS as Record<string, OptionSpec>)[name] : undefined;
    if (spec === undefined) throw new AgentFailure('usage', `${where}: unknown option`);
    if (spec.onlyOnce)
      throw new AgentFailure('usage', `${where}: only allowed on the command line, because it applies to one run`);
    if (spec.type === 'boolean') found[name as OptionName] = parseFlag(where, value);
    else if (typeof value === 'string' || typeof value === 'number') found[name as OptionName] = String(value);
    else throw new AgentFailure('usage', `${where}: must be a string`);
  }
  return found;
}

export function parseFlag(where: string, value: unknown): boolean {
  if (value === true || value === 'true' || value === '1') return true;
  if (value === false || value === 'false' || value === '0') return false;
  throw new AgentFailure('usage', `${where}: must be true or false`);
}
