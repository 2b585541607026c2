import { env } from './env.js';
import type { Format } from './format.js';
import { ini } from './ini.js';
import { json } from './json.js';
import { xml } from './xml.js';

export const FORMATS = { json, env, ini, xml } as const satisfies Record<string, Format>;
export type FormatName = keyof typeof FORMATS;
