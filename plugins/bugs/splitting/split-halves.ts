/**
 * A key without remaining reports moves to the new item; a shared key stays, and reports that match
 * a difference get a derived key (contract 20, merge and split).
 */
import { hash } from 'node:crypto';
import type { ServiceError } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { InvalidPattern } from '../../../lib/text/linear-pattern.js';
import {
  matchesDifference,
  compileMessagePattern,
  DIFFERENCE_FIELDS,
  listDifferenceValues,
  type Difference,
  type DifferenceField,
} from '../grouping/report-difference.js';
import type { SplitKey } from '../item/model.js';
import type { GroupedOccurrence, GroupedParts } from './grouped-occurrences.js';

/** Listed occurrences, a difference, or both. */
export interface SplitSelection {
  occurrences?: readonly string[];
  by?: { field: DifferenceField; values?: readonly string[] };
}

export interface SplitHalves {
  leaves: GroupedOccurrence[];
  stays: GroupedOccurrence[];
  keys: string[];
  parts: { shared: string; part: SplitKey }[];
  difference: Difference | null;
}

export interface FieldVariety {
  field: DifferenceField;
  values: { value: string; count: number }[];
}

/** A key never has two of their values. */
const KEY_FIELDS: ReadonlySet<DifferenceField> = new Set(['exception_class', 'file']);
type ValueField = Exclude<DifferenceField, 'message'>;
const VALUE_FIELDS = DIFFERENCE_FIELDS.filter((field): field is ValueField => field !== 'message');
const MAX_VALUES = 50;

/**
 * @param id of the split, which derives the keys
 * @throws ServiceError validation_failed when the selection is empty, complete, or cannot be told
 *   apart later
 */
export function splitIntoHalves(
  { keys, whole, occurrences }: GroupedParts,
  selection: SplitSelection,
  id: string,
): SplitHalves {
  const difference = toDifference(selection, occurrences);
  const chosen = selection.occurrences === undefined ? null : findNamed(selection.occurrences, occurrences);
  const leaves = occurrences.filter((one) =>
    chosen === null ? difference !== null && matchesDifference(difference, one.doc) : chosen.has(one.doc.occurrence_id),
  );
  const stays = occurrences.filter((one) => !leaves.includes(one));
  validateBothHalves(leaves, stays, selection);
  const staying = new Set(stays.map(({ key }) => key));
  const leaving = new Set(leaves.map(({ key }) => key));
  const shared = [...leaving].filter((key) => staying.has(key));
  if (shared.length > 0 && difference === null) throw toDifferenceRequiredError(leaves, stays, shared);
  if (chosen !== null && difference !== null) validateSeparation(difference, leaves, stays, shared);
  const divided = difference !== null && chosen === null ? findDividedKeys(difference, keys, leaving, staying) : shared;
  if (divided.length > 0 && !whole)
    throw invalid({ by: 'the item has too many grouping keys to divide; choose occurrences' });
  const parts = divided.map((key) => ({
    shared: key,
    part: { key: deriveKey(key, id), by: difference as Difference },
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
 * Fields within the key divide none, others every key; a message only keys that both halves share.
 */
function findDividedKeys(
  { field }: Difference,
  keys: GroupedParts['keys'],
  leaving: ReadonlySet<string>,
  staying: ReadonlySet<string>,
): string[] {
  const both = [...leaving].filter((key) => staying.has(key));
  if (KEY_FIELDS.has(field) || field === 'message') return both;
  return [...new Set([...leaving, ...keys.map(({ key }) => key)])];
}

const deriveKey = (key: string, id: string): string =>
  `v2:${hash('sha256', `${key}\u001fsplit\u001f${id}`).slice(0, 40)}`;

function toDifference(
  { by, occurrences: named }: SplitSelection,
  storedOccurrences: readonly GroupedOccurrence[],
): Difference | null {
  if (by === undefined) return null;
  const { field } = by;
  if (by.values !== undefined && by.values.length > 0) {
    if (field === 'message') by.values.forEach(validatePattern);
    return { field, values: [...by.values] };
  }
  if (named === undefined || field === 'message')
    throw invalid({ 'by.values': 'set the values, or the message pattern, of the part to split off' });
  const chosen = storedOccurrences.filter(({ doc }) => named.includes(doc.occurrence_id));
  const values = [...new Set(chosen.flatMap(({ doc }) => listDifferenceValues(field, doc)))].slice(0, MAX_VALUES);
  if (values.length === 0) throw invalid({ 'by.field': `none of these occurrences has a value of ${field}` });
  return { field, values };
}

function validatePattern(pattern: string): void {
  try {
    compileMessagePattern(pattern);
  } catch (error) {
    if (!(error instanceof InvalidPattern)) throw error;
    throw invalid({ 'by.values': error.message });
  }
}

function findNamed(ids: readonly string[], storedOccurrences: readonly GroupedOccurrence[]): Set<string> {
  const known = new Set(storedOccurrences.map(({ doc }) => doc.occurrence_id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined)
    throw invalid({
      occurrences: `occurrence ${unknown} of the item is not stored; see its list for stored occurrences`,
    });
  return new Set(ids);
}

function validateBothHalves(
  leaves: readonly unknown[],
  stays: readonly unknown[],
  { occurrences }: SplitSelection,
): void {
  const field = occurrences === undefined ? 'by' : 'occurrences';
  if (leaves.length === 0) throw invalid({ [field]: 'no stored occurrence matches this part' });
  if (stays.length === 0) throw invalid({ [field]: 'all stored occurrences match this part: none would remain' });
}

/** Must separate the selected occurrences from others with the same key. */
function validateSeparation(
  difference: Difference,
  leaves: readonly GroupedOccurrence[],
  stays: readonly GroupedOccurrence[],
  shared: readonly string[],
): void {
  const of = (half: readonly GroupedOccurrence[], is: boolean): number =>
    half.filter(({ key, doc }) => shared.includes(key) && matchesDifference(difference, doc) === is).length;
  const [missed, matchingStays] = [of(leaves, false), of(stays, true)];
  if (missed > 0) throw invalid({ 'by.values': `${missed} of the chosen occurrences have none of these values` });
  if (matchingStays > 0)
    throw invalid({ 'by.values': `${matchingStays} of the remaining occurrences also have one of these values` });
}

function toDifferenceRequiredError(
  leaves: readonly GroupedOccurrence[],
  stays: readonly GroupedOccurrence[],
  shared: readonly string[],
): ServiceError {
  const fields = findSeparatingFields(leaves, stays, shared);
  const fix =
    fields.length === 0
      ? 'the stored data does not distinguish them: split by a `message` pattern'
      : `set \`by\` to a field that distinguishes them: ${fields.join(', ')}`;
  return invalid({
    occurrences: `some of these share a grouping key with remaining occurrences, so later reports could not be distinguished; ${fix}`,
  });
}

export function findSeparatingFields(
  leaves: readonly GroupedOccurrence[],
  stays: readonly GroupedOccurrence[],
  shared: readonly string[],
): DifferenceField[] {
  const of = (half: readonly GroupedOccurrence[]): GroupedOccurrence[] =>
    half.filter(({ key }) => shared.includes(key));
  return VALUE_FIELDS.filter((field) => {
    const others = new Set(of(stays).flatMap(({ doc }) => listDifferenceValues(field, doc)));
    return of(leaves).every(({ doc }) => {
      const own = listDifferenceValues(field, doc);
      return own.length > 0 && own.every((value) => !others.has(value));
    });
  });
}

export function listVarieties(occurrences: readonly GroupedOccurrence[]): FieldVariety[] {
  return VALUE_FIELDS.flatMap((field) => {
    const counts = new Map<string, number>();
    for (const { doc } of occurrences)
      for (const value of new Set(listDifferenceValues(field, doc))) counts.set(value, (counts.get(value) ?? 0) + 1);
    const values = [...counts]
      .map(([value, count]) => ({ value, count }))
      .filter(({ count }) => count < occurrences.length)
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, MAX_VALUES);
    return values.length === 0 ? [] : [{ field, values }];
  });
}
