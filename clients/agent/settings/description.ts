/** Errors name the invalid field (contract 90, setup.json). */
import { RE2JS } from 're2js';
import { AgentFailure } from '../exit.js';
import { hasControlCharacters, toPrintable } from '../../../lib/text/printable.js';
import { createDetector } from './detect.js';
import type { SettingValue } from './formats/format.js';
import { SETTINGS_FORMATS, type FormatName } from './formats/index.js';
import { isOfType, VALUE_TYPES, type ValueType } from './types.js';

export const TARGET_LOCATIONS = ['install', 'config', 'data', 'home'] as const;
export type TargetLocation = (typeof TARGET_LOCATIONS)[number];

export const PROVISIONS = ['token', 'watchdog_source', 'base_url', 'license_key', 'project'] as const;
export type Provision = (typeof PROVISIONS)[number];

export interface Target {
  location: TargetLocation;
  file: string;
  format: FormatName;
  key: string;
}

export interface Setting {
  name: string;
  label: string;
  help: string | null;
  type: ValueType;
  required: boolean;
  detect: string | null;
  provision: Provision | null;
  /** False disables prompting. */
  ask: boolean;
  default: SettingValue | null;
  choices: SettingValue[] | null;
  pattern: RE2JS | null;
  min: number | null;
  max: number | null;
  when: { name: string; equals: SettingValue } | null;
  targets: Target[];
}

export interface SetupDescription {
  settings: Setting[];
  post: string | null;
}

const MAX_SETTINGS = 200;
const NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/;
const FORMATS_BY_EXTENSION: Readonly<Record<string, FormatName>> = {
  '.json': 'json',
  '.env': 'env',
  '.ini': 'ini',
  '.xml': 'xml',
  '.config': 'xml',
};

type JsonMembers = Readonly<Record<string, unknown>>;

const createInvalidFailure = (at: string, why: string): AgentFailure =>
  new AgentFailure('error', `setup.json: ${at} ${why}`);

/** @throws AgentFailure error that names the field */
export function parseDescription(setup: JsonMembers): SetupDescription {
  if (setup.schema !== 1) throw createInvalidFailure('schema', 'is not 1; a newer agent may support it');
  const { values } = setup;
  if (!Array.isArray(values) || values.length > MAX_SETTINGS)
    throw createInvalidFailure('values', `is not a list of at most ${MAX_SETTINGS}`);
  const settings: Setting[] = [];
  for (const [n, value] of values.entries())
    settings.push(parseSetting(parseObject(value, `values[${n}]`), n, settings));
  return { settings, post: parseText(setup, 'post', 'post', 20_000) };
}

function parseSetting(it: JsonMembers, n: number, before: readonly Setting[]): Setting {
  const at = (member: string): string => `values[${n}].${member}`;
  const name = parseText(it, 'name', at('name'), 64);
  if (name === null || !NAME_PATTERN.test(name))
    throw createInvalidFailure(at('name'), 'must be letters, digits and _ . : -, a letter first');
  if (before.some((other) => getVariableName(other.name) === getVariableName(name)))
    throw createInvalidFailure(at('name'), `${name} appears twice`);
  const type = parseOneOf(it, 'type', at('type'), VALUE_TYPES) ?? 'string';
  const setting: Setting = {
    name,
    label: toPrintable(parseText(it, 'label', at('label'), 200) ?? name, 200),
    help: parseText(it, 'help', at('help'), 2_000),
    type,
    required: parseFlag(it, 'required', at('required'), false),
    detect: parseText(it, 'detect', at('detect'), 2_000),
    provision: parseOneOf(it, 'provision', at('provision'), PROVISIONS),
    ask: parseFlag(it, 'ask', at('ask'), true),
    default: null,
    choices: null,
    pattern: parsePattern(it, at('pattern')),
    min: parseNumber(it, 'min', at('min')),
    max: parseNumber(it, 'max', at('max')),
    when: parseCondition(it, at('when'), before),
    targets: parseTargets(it, at('targets')),
  };
  if (setting.detect !== null && createDetector(setting.detect) === null)
    throw createInvalidFailure(at('detect'), `${toPrintable(setting.detect, 100)} cannot be detected`);
  setting.choices = parseChoices(it, at('choices'), setting);
  if (type === 'choice' && setting.choices === null) throw createInvalidFailure(at('choices'), 'are missing');
  setting.default = parseDefault(it, at('default'), setting);
  return setting;
}

export const getVariableName = (name: string): string => `SVC_SET_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

function parseObject(value: unknown, at: string): JsonMembers {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw createInvalidFailure(at, 'is not an object');
  return value as JsonMembers;
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

function parseText(it: JsonMembers, member: string, at: string, length: number): string | null {
  const value = it[member];
  if (isAbsent(value)) return null;
  if (typeof value !== 'string' || value === '') throw createInvalidFailure(at, 'is not a string');
  if (value.length > length) throw createInvalidFailure(at, `is longer than ${length} characters`);
  return value;
}

function parseFlag(it: JsonMembers, member: string, at: string, standard: boolean): boolean {
  const value = it[member];
  if (isAbsent(value)) return standard;
  if (typeof value !== 'boolean') throw createInvalidFailure(at, 'is neither true nor false');
  return value;
}

function parseNumber(it: JsonMembers, member: string, at: string): number | null {
  const value = it[member];
  if (isAbsent(value)) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw createInvalidFailure(at, 'is not a number');
  return value;
}

function parseOneOf<T extends string>(it: JsonMembers, member: string, at: string, known: readonly T[]): T | null {
  const value = it[member];
  if (isAbsent(value)) return null;
  const found = known.find((one) => one === value);
  if (found === undefined) throw createInvalidFailure(at, `is not one of ${known.join(', ')}`);
  return found;
}

const isScalar = (value: unknown): value is SettingValue => ['string', 'number', 'boolean'].includes(typeof value);

/** Uses a linear-time engine, because patterns are external input. */
function parsePattern(it: JsonMembers, at: string): RE2JS | null {
  const source = parseText(it, 'pattern', at, 1_000);
  if (source === null) return null;
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw createInvalidFailure(
      at,
      `is not a valid RE2 regular expression: ${error instanceof Error ? toPrintable(error.message, 200) : ''}`,
    );
  }
}

function parseCondition(it: JsonMembers, at: string, before: readonly Setting[]): Setting['when'] {
  if (isAbsent(it.when)) return null;
  const { name, equals } = parseObject(it.when, at);
  if (typeof name !== 'string' || !before.some((other) => other.name === name))
    throw createInvalidFailure(`${at}.name`, 'is not an earlier setting');
  if (!isScalar(equals)) throw createInvalidFailure(`${at}.equals`, 'is not a string, number or boolean');
  return { name, equals };
}

function parseChoices(it: JsonMembers, at: string, setting: Setting): SettingValue[] | null {
  if (isAbsent(it.choices)) return null;
  if (!Array.isArray(it.choices) || it.choices.length === 0 || it.choices.length > 200)
    throw createInvalidFailure(at, 'is not a list of 1 to 200');
  return it.choices.map((choice: unknown, n) => {
    if (!isScalar(choice) || choice === '' || hasControlCharacters(String(choice)) || !isOfType(setting.type, choice))
      throw createInvalidFailure(`${at}[${n}]`, `is not a value of type ${setting.type}`);
    return choice;
  });
}

function parseDefault(it: JsonMembers, at: string, setting: Setting): SettingValue | null {
  const value = it.default;
  if (isAbsent(value) || value === '') return null;
  if (!isScalar(value) || !isOfType(setting.type, value))
    throw createInvalidFailure(at, `is not a value of type ${setting.type}`);
  if (setting.choices !== null && !setting.choices.some((choice) => String(choice) === String(value)))
    throw createInvalidFailure(at, 'is not one of the choices');
  return value;
}

function parseTargets(it: JsonMembers, at: string): Target[] {
  if (isAbsent(it.targets)) return [];
  if (!Array.isArray(it.targets) || it.targets.length > 20)
    throw createInvalidFailure(at, 'is not a list of at most 20');
  return it.targets.map((target: unknown, n) => parseTarget(parseObject(target, `${at}[${n}]`), `${at}[${n}]`));
}

function parseTarget(it: JsonMembers, at: string): Target {
  const file = parseText(it, 'file', `${at}.file`, 2_000);
  if (file === null) throw createInvalidFailure(`${at}.file`, 'is missing');
  if (hasControlCharacters(file)) throw createInvalidFailure(`${at}.file`, 'has a control character');
  const names = Object.keys(SETTINGS_FORMATS) as FormatName[];
  const ending = /\.[a-z]+$/.exec(file.toLowerCase())?.[0] ?? '';
  const format = parseOneOf(it, 'format', `${at}.format`, names) ?? FORMATS_BY_EXTENSION[ending];
  if (format === undefined) throw createInvalidFailure(`${at}.format`, `is missing: one of ${names.join(', ')}`);
  const key = parseText(it, 'key', `${at}.key`, 1_000);
  if (key === null) throw createInvalidFailure(`${at}.key`, 'is missing');
  const why = SETTINGS_FORMATS[format].refusedKey(key);
  if (why !== null) throw createInvalidFailure(`${at}.key`, why);
  return { location: parseOneOf(it, 'location', `${at}.location`, TARGET_LOCATIONS) ?? 'install', file, format, key };
}
