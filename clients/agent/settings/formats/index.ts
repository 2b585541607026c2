import { envFormat } from './env.js';
import type { SettingsFormat } from './format.js';
import { iniFormat } from './ini.js';
import { jsonFormat } from './json.js';
import { xmlFormat } from './xml.js';

export const SETTINGS_FORMATS = {
  json: jsonFormat,
  env: envFormat,
  ini: iniFormat,
  xml: xmlFormat,
} as const satisfies Record<string, SettingsFormat>;
export type FormatName = keyof typeof SETTINGS_FORMATS;
