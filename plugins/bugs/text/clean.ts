/**
 * Text from outside that every engine stores alike: NUL and halves of surrogate pairs become U+FFFD. An engine would cut
 * the text there, refuse it, or replace it in its own way. Pure.
 */
import { boundJson } from '../../../lib/json-bounds.js';
import type { Report } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store.js';

/** Deeper values have been refused by the HTTP adapter already. */
const DEEPEST = 64;

export const cleanText = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd');

/** The same value where nothing is broken; undefined becomes null. */
export const cleanJson = (value: Json | undefined): Json =>
  boundJson(value, { depth: DEEPEST, deeper: () => null, text: cleanText });

/** The report with every text whole, its details aside (scrub.ts); the same report where nothing is broken. */
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
