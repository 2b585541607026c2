/**
 * Resolves the value of each setting without writing (contract 90, setup.json): given (`--set`,
 * `SVC_SET_<NAME>`), already set, detected, provisioned, prompted.
 */
import { AgentFailure } from '../exit.js';
import type { SetupDescription, Provision, Setting, Target } from './description.js';
import { getVariableName } from './description.js';
import { createDetector, type DetectionContext } from './detect.js';
import type { SettingValue } from './formats/format.js';
import { SETTINGS_FORMATS } from './formats/index.js';
import { isPlaceholder, parseValue } from './types.js';

export type ValueSource = 'given' | 'set' | 'detected' | 'provisioned' | 'asked' | 'default';

export interface ResolvedSetting {
  setting: Setting;
  value: SettingValue;
  source: ValueSource;
  missing: Target[];
  make?: () => Promise<string>;
}

export interface ValueSources {
  around: DetectionContext;
  given: ReadonlyMap<string, string>;
  read: (target: Target) => Promise<SettingValue | null>;
  /** A function creates the value once all others are resolved. */
  provision: (what: Provision) => Promise<string | (() => Promise<string>) | null>;
  /** Returns null for no answer. Undefined when prompting is not possible. */
  ask: ((setting: Setting, refused: (text: string) => string | null) => Promise<string | null>) | undefined;
  /** Requested before a value is created and before anything is written. */
  leave: (targets: readonly Target[]) => Promise<void>;
  warn: (text: string) => void;
}

/** @throws AgentFailure usage that names each missing required setting and how to provide it */
export async function resolveSettings(
  { settings }: SetupDescription,
  sources: ValueSources,
): Promise<ResolvedSetting[]> {
  const known = new Map<string, SettingValue>();
  const resolved: ResolvedSetting[] = [];
  const lacking: Setting[] = [];
  // All files are checked before the first prompt.
  const lying = new Map<Target, SettingValue | null>();
  for (const target of settings.flatMap(({ targets }) => targets)) lying.set(target, await sources.read(target));
  for (const setting of settings) {
    if (setting.when !== null && String(known.get(setting.when.name)) !== String(setting.when.equals)) continue;
    const found = await findValue(setting, lying, sources);
    if (found === null) {
      if (setting.required) lacking.push(setting);
      continue;
    }
    known.set(setting.name, found.value);
    resolved.push(found);
  }
  if (lacking.length > 0)
    throw new AgentFailure('usage', `settings are missing: ${lacking.map(formatHowToSet).join('; ')}`);
  await sources.leave(resolved.flatMap(({ missing }) => missing));
  for (const one of resolved) if (one.make !== undefined) one.value = await one.make();
  return resolved;
}

const formatHowToSet = ({ name, type }: Setting): string =>
  type === 'secret'
    ? `${name} (${getVariableName(name)} or ${getVariableName(name)}_FILE)`
    : `${name} (--set ${name}=… or ${getVariableName(name)})`;

const isSet = (value: SettingValue | null | undefined): value is SettingValue =>
  value !== null && value !== undefined && !isPlaceholder(value);

async function findValue(
  setting: Setting,
  lying: ReadonlyMap<Target, SettingValue | null>,
  sources: ValueSources,
): Promise<ResolvedSetting | null> {
  const { targets } = setting;
  const given = sources.given.get(setting.name);
  if (given !== undefined) {
    const why = getValueFault(setting, given);
    if (why !== null)
      throw new AgentFailure('usage', `--set ${setting.name} (${getVariableName(setting.name)}): ${why}`);
    return { setting, value: toSettingValue(setting, given), source: 'given', missing: targets };
  }
  const set = targets.map((target) => lying.get(target)).find(isSet);
  const missing = targets.filter((target) => !isSet(lying.get(target)));
  if (set !== undefined)
    return { setting, value: set, source: 'set', missing: copyToMissing(setting, set, missing, sources) };
  const found =
    (await detectValue(setting, sources)) ??
    (await provisionValue(setting, sources)) ??
    (await promptValue(setting, sources));
  return found && { setting, ...found, missing };
}

/** A value set in one place is copied to the others, unless they cannot contain it. */
function copyToMissing(setting: Setting, value: SettingValue, missing: Target[], { warn }: ValueSources): Target[] {
  if (missing.length === 0) return [];
  const why = getValueFault(setting, String(value));
  if (why === null) return missing;
  warn(`the value of the setting ${setting.name} ${why}`);
  return [];
}

type FoundValue = Pick<ResolvedSetting, 'value' | 'source' | 'make'> | null;

async function detectValue(setting: Setting, { around, warn }: ValueSources): Promise<FoundValue> {
  if (setting.detect === null) return null;
  const value = await createDetector(setting.detect)?.(around);
  if (!isSet(value)) {
    // `exists:` also yields a boolean.
    return setting.type === 'boolean' && setting.detect.startsWith('exists:')
      ? { value: false, source: 'detected' }
      : null;
  }
  if (setting.type === 'boolean' && setting.detect.startsWith('exists:')) return { value: true, source: 'detected' };
  const why = getValueFault(setting, String(value));
  if (why === null) return { value: toSettingValue(setting, String(value)), source: 'detected' };
  warn(`the detected value of ${setting.name} (${setting.detect}) is ignored: it ${why}`);
  return null;
}

async function provisionValue(setting: Setting, { provision, warn }: ValueSources): Promise<FoundValue> {
  const value = setting.provision === null ? null : await provision(setting.provision);
  if (value === null) return null;
  if (typeof value === 'function') return { value: '', source: 'provisioned', make: value };
  const why = getValueFault(setting, value);
  if (why === null) return { value: toSettingValue(setting, value), source: 'provisioned' };
  warn(`the provided value of ${setting.name} (${setting.provision}) is ignored: it ${why}`);
  return null;
}

async function promptValue(setting: Setting, { ask }: ValueSources): Promise<FoundValue> {
  if (ask === undefined || !setting.ask)
    return setting.default === null
      ? null
      : { value: toSettingValue(setting, String(setting.default)), source: 'default' };
  const answer = await ask(setting, (text) => getValueFault(setting, text));
  return answer === null ? null : { value: toSettingValue(setting, answer), source: 'asked' };
}

function toSettingValue({ type, choices }: Setting, text: string): SettingValue {
  const read = parseValue(type, text);
  const value = 'value' in read ? read.value : text;
  return choices?.find((choice) => String(choice) === String(value)) ?? value;
}

/** The sentence continues after the setting's name. */
export function getValueFault({ type, choices, pattern, min, max, targets }: Setting, text: string): string | null {
  const read = parseValue(type, text);
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
    const why = SETTINGS_FORMATS[format].refusedValue(value);
    if (why !== null) return why;
  }
  return null;
}
