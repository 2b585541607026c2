/** Reports as every engine stores them alike (lib/text/clean-text.ts). Pure. */
import { cleanText } from '../../../lib/text/clean-text.js';
import { boundJson, type JsonBounds } from '../../../lib/json-bounds.js';
import type { Report } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store.js';

/** Deeper values have been refused by the HTTP adapter already. */
const BOUNDS: JsonBounds = { depth: 64, deeper: () => null, text: cleanText };

/** The same value where nothing is broken; undefined becomes null. */
export const cleanJson = (value: Json | undefined): Json => boundJson(value, BOUNDS);

/** The report with every broken text mended; the same report where nothing is broken. */
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
