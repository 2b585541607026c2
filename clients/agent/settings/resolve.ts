/**
 * Resolves the value of each setting without writing (contract 90, setup.json): given (`--set`,
 * `SVC_SET_<NAME>`), already set, detected, provisioned, prompted.
 */
import { AgentFailure } from '../exit.js';
import type { Description, Provision, Setting, Target } from './description.js';
import { variableOf } from './description.js';
import { detectorOf, type MachineSurroundings } from './detect.js';
import type { SettingValue } from './formats/format.js';
import { FORMATS } from './formats/index.js';
import { isPlaceholder, valueOf } from './types.js';

export type ValueSource = 'given' | 'set' | 'detected' | 'provisioned' | 'asked' | 'default';

export interface Resolved {
  setting: Setting;
  value: SettingValue;
  source: ValueSource;
  missing: Target[];
  make?: () => Promise<string>;
}

export interface Sources {
  around: MachineSurroundings;
  given: ReadonlyMap<string, string>;
  read: (target: Target) => Promise<SettingValue | null>;
  /** Null when unavailable. A function creates the value once all others are resolved. */
  provision: (what: Provision) => Promise<string | (() => Promise<string>) | null>;
  /** Returns null for no answer. Undefined when prompting is not possible. */
  ask: ((setting: Setting, refused: (text: string) => string | null) => Promise<string | null>) | undefined;
  /** Requested before a value is created and before anything is written. */
  leave: (targets: readonly Target[]) => Promise<void>;
  warn: (text: string) => void;
}

/** @throws AgentFailure usage that names each missing required setting and how to provide it */
export async function resolve({ settings }: Description, sources: Sources): Promise<Resolved[]> {
  const known = new Map<string, SettingValue>();
  const resolved: Resolved[] = [];
  const lacking: Setting[] = [];
  // All files are checked before the first prompt.
  const lying = new Map<Target, SettingValue | null>();
  for (const target of settings.flatMap(({ targets }) => targets)) lying.set(target, await sources.read(target));
  for (const setting of settings) {
    if (setting.when !== null && String(known.get(setting.when.name)) !== String(setting.when.equals)) continue;
    const found = await find(setting, lying, sources);
    if (found === null) {
      if (setting.required) lacking.push(setting);
      continue;
    }
    known.set(setting.name, found.value);
    resolved.push(found);
  }
  if (lacking.length > 0) throw new AgentFailure('usage', `settings are missing: ${lacking.map(howToGive).join('; ')}`);
  await sources.leave(resolved.flatMap(({ missing }) => missing));
  for (const one of resolved) if (one.make !== undefined) one.value = await one.make();
  return resolved;
}

const howToGive = ({ name, type }: Setting): string =>
  type === 'secret'
    ? `${name} (${variableOf(name)} or ${variableOf(name)}_FILE)`
    : `${name} (--set ${name}=… or ${variableOf(name)})`;

const isSet = (value: SettingValue | null | undefined): value is SettingValue =>
  value !== null && value !== undefined && !isPlaceholder(value);

async function find(
  setting: Setting,
  lying: ReadonlyMap<Target, SettingValue | null>,
  sources: Sources,
): Promise<Resolved | null> {
  const { targets } = setting;
  const given = sources.given.get(setting.name);
  if (given !== undefined) {
    const why = refusal(setting, given);
    if (why !== null) throw new AgentFailure('usage', `--set ${setting.name} (${variableOf(setting.name)}): ${why}`);
    return { setting, value: meaning(setting, given), source: 'given', missing: targets };
  }
  const set = targets.map((target) => lying.get(target)).find(isSet);
  const missing = targets.filter((target) => !isSet(lying.get(target)));
  if (set !== undefined) return { setting, value: set, source: 'set', missing: copied(setting, set, missing, sources) };
  const found =
    (await detected(setting, sources)) ?? (await provisioned(setting, sources)) ?? (await asked(setting, sources));
  return found && { setting, ...found, missing };
}

/** A value set in one place is copied to the others, unless they cannot contain it. */
function copied(setting: Setting, value: SettingValue, missing: Target[], { warn }: Sources): Target[] {
  if (missing.length === 0) return [];
  const why = refusal(setting, String(value));
  if (why === null) return missing;
  warn(`the setting ${setting.name} is set to a value that ${why}`);
  return [];
}

type Found = Pick<Resolved, 'value' | 'source' | 'make'> | null;

async function detected(setting: Setting, { around, warn }: Sources): Promise<Found> {
  if (setting.detect === null) return null;
  const value = await detectorOf(setting.detect)?.(around);
  if (!isSet(value)) {
    // `exists:` also yields a boolean.
    return setting.type === 'boolean' && setting.detect.startsWith('exists:')
      ? { value: false, source: 'detected' }
      : null;
  }
  if (setting.type === 'boolean' && setting.detect.startsWith('exists:')) return { value: true, source: 'detected' };
  const why = refusal(setting, String(value));
  if (why === null) return { value: meaning(setting, String(value)), source: 'detected' };
  warn(`what was detected for ${setting.name} (${setting.detect}) is not used: it ${why}`);
  return null;
}

async function provisioned(setting: Setting, { provision, warn }: Sources): Promise<Found> {
  const value = setting.provision === null ? null : await provision(setting.provision);
  if (value === null) return null;
  if (typeof value === 'function') return { value: '', source: 'provisioned', make: value };
  const why = refusal(setting, value);
  if (why === null) return { value: meaning(setting, value), source: 'provisioned' };
  warn(`what was provided for ${setting.name} (${setting.provision}) is not used: it ${why}`);
  return null;
}

async function asked(setting: Setting, { ask }: Sources): Promise<Found> {
  if (ask === undefined || !setting.ask)
    return setting.default === null ? null : { value: meaning(setting, String(setting.default)), source: 'default' };
  const answer = await ask(setting, (text) => refusal(setting, text));
  return answer === null ? null : { value: meaning(setting, answer), source: 'asked' };
}

function meaning({ type, choices }: Setting, text: string): SettingValue {
  const read = valueOf(type, text);
  const value = 'value' in read ? read.value : text;
  return choices?.find((choice) => String(choice) === String(value)) ?? value;
}

/** Returns why a text is invalid. The sentence continues after the setting's name. */
export function refusal({ type, choices, pattern, min, max, targets }: Setting, text: string): string | null {
  const read = valueOf(type, text);
  if ('why' in read) return read.why;
  const { value } = read;
  if (choices !== null && !choices.some((choice) => String(choice) === String(value)))
    return `must be one of ${choices.map(String).join(', ')}`;
  const size = typeof value === 'number' ? value : Array.from(String(value)).length;
  const unit = typeof value === 'number' ? '' : ' characters';
  if (min !== null && size < min) return `must be at least ${min}${unit}`;
  if (max !== null && size > max) return `must be at most ${max}${unit}`;
  if (pattern !== null && !pattern.matcher(String(value)).find()) return `must match ${pattern.pattern()}`;
  for (const { format } of targets) {
    const why = FORMATS[format].refusedValue(value);
    if (why !== null) return why;
  }
  return null;
}
