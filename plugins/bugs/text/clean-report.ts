/** Store engines would treat them differently (lib/text/clean-text.ts). */
import { cleanText } from '../../../lib/text/clean-text.js';
import { boundJson, type JsonBounds } from '../../../lib/json/json-bounds.js';
import type { Report } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store/index.js';

/** The HTTP adapter rejects deeper values. */
const JSON_BOUNDS: JsonBounds = { depth: 64, deeper: () => null, text: cleanText };

export const cleanJson = (value: Json | undefined): Json => boundJson(value, JSON_BOUNDS);

export function cleanReport(report: Report): Report {
  let copy: Report | null = null;
  for (const name of Object.keys(report) as (keyof Report)[]) {
    const before = report[name];
    const after =
      typeof before === 'string' ? cleanText(before) : typeof before === 'object' ? cleanJson(before as Json) : before;
    if (after !== before) copy = Object.assign(copy ?? { ...report }, { [name]: after });
  }
  return copy ?? report;
}
