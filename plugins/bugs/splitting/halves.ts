/**
 * Divides the stored occurrences and keys of an item (contract 20, merge and split). A key without
 * remaining reports moves to the new item. A shared key stays, and reports that match a difference
 * get a derived key.
 */
import { hash } from 'node:crypto';
import type { ServiceError } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { PatternProblem } from '../../../lib/text/linear-pattern.js';
import {
  isOfPart,
  compileMessagePattern,
  RESPECTS,
  listDifferenceValues,
  type Difference,
  type Respect,
} from '../grouping/difference.js';
import type { KeyPart } from '../item/model.js';
import type { KeptOccurrence, KeptParts } from './kept.js';

/** Part of an item to split off: listed occurrences, a difference, or both. */
export interface Selection {
  occurrences?: readonly string[];
  by?: { field: Respect; values?: readonly string[] };
}

export interface Halves {
  leaves: KeptOccurrence[];
  stays: KeptOccurrence[];
  keys: string[];
  parts: { shared: string; part: KeyPart }[];
  difference: Difference | null;
}

export interface Variety {
  field: Respect;
  values: { value: string; count: number }[];
}

/** Fields in the grouping key: a key never has two of their values. */
const IN_KEY: ReadonlySet<Respect> = new Set(['exception_class', 'file']);
type Valued = Exclude<Respect, 'message'>;
const VALUED = RESPECTS.filter((field): field is Valued => field !== 'message');
const MAX_VALUES = 50;

/**
 * @param id of the split, from which the keys are derived
 * @throws ServiceError validation_failed when the selection is empty, complete, or cannot be told
 *   apart later
 */
export function splitIntoHalves({ keys, whole, occurrences }: KeptParts, selection: Selection, id: string): Halves {
  const difference = differenceOf(selection, occurrences);
  const chosen = selection.occurrences === undefined ? null : namedIn(selection.occurrences, occurrences);
  const leaves = occurrences.filter((one) =>
    chosen === null ? difference !== null && isOfPart(difference, one.doc) : chosen.has(one.doc.occurrence_id),
  );
  const stays = occurrences.filter((one) => !leaves.includes(one));
  checkBoth(leaves, stays, selection);
  const staying = new Set(stays.map(({ key }) => key));
  const leaving = new Set(leaves.map(({ key }) => key));
  const shared = [...leaving].filter((key) => staying.has(key));
  if (shared.length > 0 && difference === null) throw needsDifference(leaves, stays, shared);
  if (chosen !== null && difference !== null) checkTold(difference, leaves, stays, shared);
  const divided = difference !== null && chosen === null ? dividedBy(difference, keys, leaving, staying) : shared;
  if (divided.length > 0 && !whole)
    throw invalid({ by: 'the item has too many grouping keys to divide them; choose occurrences' });
  const parts = divided.map((key) => ({
    shared: key,
    part: { key: derivedKey(key, id), by: difference as Difference },
  }));
  return {
    leaves,
    stays,
    keys: [...leaving].filter((key) => !divided.includes(key)),
    parts,
    difference: parts.length > 0 ? difference : null,
  };
}

/**
 * Returns the keys that a difference divides. Fields within the key divide none; other fields
 * divide every key. A message is the same for all reports of a key, so it divides only keys that
 * both halves share.
 */
function dividedBy(
  { field }: Difference,
  keys: KeptParts['keys'],
  leaving: ReadonlySet<string>,
  staying: ReadonlySet<string>,
): string[] {
  const both = [...leaving].filter((key) => staying.has(key));
  if (IN_KEY.has(field) || field === 'message') return both;
  return [...new Set([...leaving, ...keys.map(({ key }) => key)])];
}

const derivedKey = (key: string, id: string): string =>
  `v2:${hash('sha256', `${key}\u001fsplit\u001f${id}`).slice(0, 40)}`;

function differenceOf({ by, occurrences: named }: Selection, kept: readonly KeptOccurrence[]): Difference | null {
  if (by === undefined) return null;
  const { field } = by;
  if (by.values !== undefined && by.values.length > 0) {
    if (field === 'message') by.values.forEach(checkPattern);
    return { field, values: [...by.values] };
  }
  if (named === undefined || field === 'message')
    throw invalid({ 'by.values': 'name the values, or the pattern of the message, that mark the part to split off' });
  const chosen = kept.filter(({ doc }) => named.includes(doc.occurrence_id));
  const values = [...new Set(chosen.flatMap(({ doc }) => listDifferenceValues(field, doc)))].slice(0, MAX_VALUES);
  if (values.length === 0) throw invalid({ 'by.field': `none of these occurrences names a value of ${field}` });
  return { field, values };
}

function checkPattern(pattern: string): void {
  try {
    compileMessagePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternProblem)) throw error;
    throw invalid({ 'by.values': `the pattern cannot be searched for: ${error.message}` });
  }
}

function namedIn(ids: readonly string[], kept: readonly KeptOccurrence[]): Set<string> {
  const known = new Set(kept.map(({ doc }) => doc.occurrence_id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined)
    throw invalid({ occurrences: `the item keeps no occurrence ${unknown}; its list names those that it keeps` });
  return new Set(ids);
}

function checkBoth(leaves: readonly unknown[], stays: readonly unknown[], { occurrences }: Selection): void {
  const field = occurrences === undefined ? 'by' : 'occurrences';
  if (leaves.length === 0) throw invalid({ [field]: 'no kept occurrence is of this part' });
  if (stays.length === 0) throw invalid({ [field]: 'every kept occurrence is of this part: nothing would stay' });
}

/**
 * Rejects a difference that does not separate the selected occurrences from others with the same
 * key.
 */
function checkTold(
  difference: Difference,
  leaves: readonly KeptOccurrence[],
  stays: readonly KeptOccurrence[],
  shared: readonly string[],
): void {
  const of = (half: readonly KeptOccurrence[], is: boolean): number =>
    half.filter(({ key, doc }) => shared.includes(key) && isOfPart(difference, doc) === is).length;
  const [missed, taken] = [of(leaves, false), of(stays, true)];
  if (missed > 0) throw invalid({ 'by.values': `${missed} of the chosen occurrences have none of these values` });
  if (taken > 0) throw invalid({ 'by.values': `${taken} of the occurrences that stay have one of these values too` });
}

function needsDifference(
  leaves: readonly KeptOccurrence[],
  stays: readonly KeptOccurrence[],
  shared: readonly string[],
): ServiceError {
  const fields = findSeparatingFields(leaves, stays, shared);
  const mend =
    fields.length === 0
      ? 'nothing that is kept tells them apart: split by a `message` pattern'
      : `name in \`by\` what tells them apart: ${fields.join(', ')}`;
  return invalid({
    occurrences: `some of these share a grouping key with others that stay, so later reports could not be told apart; ${mend}`,
  });
}

export function findSeparatingFields(
  leaves: readonly KeptOccurrence[],
  stays: readonly KeptOccurrence[],
  shared: readonly string[],
): Respect[] {
  const of = (half: readonly KeptOccurrence[]): KeptOccurrence[] => half.filter(({ key }) => shared.includes(key));
  return VALUED.filter((field) => {
    const others = new Set(of(stays).flatMap(({ doc }) => listDifferenceValues(field, doc)));
    return of(leaves).every(({ doc }) => {
      const own = listDifferenceValues(field, doc);
      return own.length > 0 && own.every((value) => !others.has(value));
    });
  });
}

export function listVarieties(kept: readonly KeptOccurrence[]): Variety[] {
  return VALUED.flatMap((field) => {
    const counts = new Map<string, number>();
    for (const { doc } of kept)
      for (const value of new Set(listDifferenceValues(field, doc))) counts.set(value, (counts.get(value) ?? 0) + 1);
    const values = [...counts]
      .map(([value, count]) => ({ value, count }))
      .filter(({ count }) => count < kept.length)
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, MAX_VALUES);
    return values.length === 0 ? [] : [{ field, values }];
  });
}
