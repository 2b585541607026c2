/**
 * Parses `setup.json` (contract 90, setup.json). Errors name the invalid field. Unknown members are
 * ignored, because a newer packager may write them.
 */
import { RE2JS } from 're2js';
import { AgentFailure } from '../exit.js';
import { hasControls, printable } from '../../../lib/text/printable.js';
import { detectorOf } from './detect.js';
import type { SettingValue } from './formats/format.js';
import { FORMATS, type FormatName } from './formats/index.js';
import { isOfType, TYPES, type ValueType } from './types.js';

export const LOCATIONS = ['install', 'config', 'data', 'home'] as const;
export type Location = (typeof LOCATIONS)[number];

export const PROVISIONS = ['token', 'watchdog_source', 'base_url', 'license_key', 'project'] as const;
export type Provision = (typeof PROVISIONS)[number];

export interface Target {
  location: Location;
  /** Before variable substitution. */
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

export interface Description {
  settings: Setting[];
  post: string | null;
}

const MOST_SETTINGS = 200;
const NAME = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/;
const ENDINGS: Readonly<Record<string, FormatName>> = {
  '.json': 'json',
  '.env': 'env',
  '.ini': 'ini',
  '.xml': 'xml',
  '.config': 'xml',
};

type Members = Readonly<Record<string, unknown>>;

const wrong = (at: string, why: string): AgentFailure => new AgentFailure('error', `setup.json: ${at} ${why}`);

/** @throws AgentFailure error that names the field */
export function readDescription(setup: Members): Description {
  if (setup.schema !== 1) throw wrong('schema', 'is not 1; a newer agent may know it');
  const { values } = setup;
  if (!Array.isArray(values) || values.length > MOST_SETTINGS)
    throw wrong('values', `is no list of at most ${MOST_SETTINGS}`);
  const settings: Setting[] = [];
  for (const [n, value] of values.entries()) settings.push(readSetting(record(value, `values[${n}]`), n, settings));
  return { settings, post: text(setup, 'post', 'post', 20_000) };
}

function readSetting(it: Members, n: number, before: readonly Setting[]): Setting {
  const at = (member: string): string => `values[${n}].${member}`;
  const name = text(it, 'name', at('name'), 64);
  if (name === null || !NAME.test(name)) throw wrong(at('name'), 'must be letters, digits and _ . : -, a letter first');
  if (before.some((other) => variableOf(other.name) === variableOf(name)))
    throw wrong(at('name'), `${name} is there twice`);
  const type = oneOf(it, 'type', at('type'), TYPES) ?? 'string';
  const setting: Setting = {
    name,
    label: printable(text(it, 'label', at('label'), 200) ?? name, 200),
    help: text(it, 'help', at('help'), 2_000),
    type,
    required: flag(it, 'required', at('required'), false),
    detect: text(it, 'detect', at('detect'), 2_000),
    provision: oneOf(it, 'provision', at('provision'), PROVISIONS),
    ask: flag(it, 'ask', at('ask'), true),
    default: null,
    choices: null,
    pattern: pattern(it, at('pattern')),
    min: number(it, 'min', at('min')),
    max: number(it, 'max', at('max')),
    when: when(it, at('when'), before),
    targets: targets(it, at('targets')),
  };
  if (setting.detect !== null && detectorOf(setting.detect) === null)
    throw wrong(at('detect'), `${printable(setting.detect, 100)} is nothing that is detected`);
  setting.choices = choices(it, at('choices'), setting);
  if (type === 'choice' && setting.choices === null) throw wrong(at('choices'), 'are missing');
  setting.default = standard(it, at('default'), setting);
  return setting;
}

export const variableOf = (name: string): string => `SVC_SET_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

function record(value: unknown, at: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(at, 'is no object');
  return value as Members;
}

const absent = (value: unknown): value is null | undefined => value === undefined || value === null;

function text(it: Members, member: string, at: string, length: number): string | null {
  const value = it[member];
  if (absent(value)) return null;
  if (typeof value !== 'string' || value === '') throw wrong(at, 'is no text');
  if (value.length > length) throw wrong(at, `is longer than ${length} characters`);
  return value;
}

function flag(it: Members, member: string, at: string, standard: boolean): boolean {
  const value = it[member];
  if (absent(value)) return standard;
  if (typeof value !== 'boolean') throw wrong(at, 'is neither true nor false');
  return value;
}

function number(it: Members, member: string, at: string): number | null {
  const value = it[member];
  if (absent(value)) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(at, 'is no number');
  return value;
}

function oneOf<T extends string>(it: Members, member: string, at: string, known: readonly T[]): T | null {
  const value = it[member];
  if (absent(value)) return null;
  const found = known.find((one) => one === value);
  if (found === undefined) throw wrong(at, `is none of ${known.join(', ')}`);
  return found;
}

const isScalar = (value: unknown): value is SettingValue => ['string', 'number', 'boolean'].includes(typeof value);

/** Uses a linear-time engine, because patterns are external input. */
function pattern(it: Members, at: string): RE2JS | null {
  const source = text(it, 'pattern', at, 1_000);
  if (source === null) return null;
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw wrong(at, `is no regular expression of RE2: ${error instanceof Error ? printable(error.message, 200) : ''}`);
  }
}

function when(it: Members, at: string, before: readonly Setting[]): Setting['when'] {
  if (absent(it.when)) return null;
  const { name, equals } = record(it.when, at);
  if (typeof name !== 'string' || !before.some((other) => other.name === name))
    throw wrong(`${at}.name`, 'is no setting that comes before');
  if (!isScalar(equals)) throw wrong(`${at}.equals`, 'is no text, number or boolean');
  return { name, equals };
}

function choices(it: Members, at: string, setting: Setting): SettingValue[] | null {
  if (absent(it.choices)) return null;
  if (!Array.isArray(it.choices) || it.choices.length === 0 || it.choices.length > 200)
    throw wrong(at, 'is no list of 1 to 200');
  return it.choices.map((choice: unknown, n) => {
    if (!isScalar(choice) || choice === '' || hasControls(String(choice)) || !isOfType(setting.type, choice))
      throw wrong(`${at}[${n}]`, `is no value of the type ${setting.type}`);
    return choice;
  });
}

function standard(it: Members, at: string, setting: Setting): SettingValue | null {
  const value = it.default;
  if (absent(value) || value === '') return null;
  if (!isScalar(value) || !isOfType(setting.type, value)) throw wrong(at, `is no value of the type ${setting.type}`);
  if (setting.choices !== null && !setting.choices.some((choice) => String(choice) === String(value)))
    throw wrong(at, 'is none of the choices');
  return value;
}

function targets(it: Members, at: string): Target[] {
  if (absent(it.targets)) return [];
  if (!Array.isArray(it.targets) || it.targets.length > 20) throw wrong(at, 'is no list of at most 20');
  return it.targets.map((target: unknown, n) => readTarget(record(target, `${at}[${n}]`), `${at}[${n}]`));
}

function readTarget(it: Members, at: string): Target {
  const file = text(it, 'file', `${at}.file`, 2_000);
  if (file === null) throw wrong(`${at}.file`, 'is missing');
  if (hasControls(file)) throw wrong(`${at}.file`, 'has a control character');
  const names = Object.keys(FORMATS) as FormatName[];
  const ending = /\.[a-z]+$/.exec(file.toLowerCase())?.[0] ?? '';
  const format = oneOf(it, 'format', `${at}.format`, names) ?? ENDINGS[ending];
  if (format === undefined) throw wrong(`${at}.format`, `is missing: one of ${names.join(', ')}`);
  const key = text(it, 'key', `${at}.key`, 1_000);
  if (key === null) throw wrong(`${at}.key`, 'is missing');
  const why = FORMATS[format].refusedKey(key);
  if (why !== null) throw wrong(`${at}.key`, why);
  return { location: oneOf(it, 'location', `${at}.location`, LOCATIONS) ?? 'install', file, format, key };
}
