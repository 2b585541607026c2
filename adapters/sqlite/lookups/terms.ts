/**
 * Look-ups (ports/store.ts, LookupSpec) as terms of a full-text table: what a document is found by, and what a filter
 * asks for. A term is a hash in letters and digits, which the tokenizer leaves alone, whatever the value holds. Two
 * values may share a term, and a text may have all grams of a part that it does not contain: what is found is checked
 * against the filter. Pure.
 */
import { gramsOf, gramsWithin, hash32 } from '../../../lib/text/grams.js';
import { alternatives, valueAt } from '../../../ports/document.js';
import type { Condition, Doc, Filter, Json, LookupSpec, Scalar } from '../../../ports/store.js';

/** By `<by> <path> `, of what is declared. */
const seeds = new Map<string, number>();

function seedOf(by: LookupSpec['by'], path: string): number {
  const name = `${by} ${path} `;
  const before = seeds.get(name);
  if (before !== undefined) return before;
  const seed = hash32(name);
  seeds.set(name, seed);
  return seed;
}

const valueTerm = (path: string, value: Scalar): number => hash32(JSON.stringify(value), seedOf('value', path));
/** Terms of one or more common grams are made again and again. */
const tokens = new Map<number, string>();
const MOST_TOKENS = 20_000;

function tokenOf(term: number): string {
  let token = tokens.get(term);
  if (token === undefined) {
    token = (term >>> 0).toString(36);
    if (tokens.size >= MOST_TOKENS) tokens.clear();
    tokens.set(term, token);
  }
  return token;
}

const isScalar = (value: Json | undefined): value is Scalar => value !== undefined && typeof value !== 'object';

/** All terms of a document, divided by blanks. */
export function termsOf(doc: Doc, lookups: readonly LookupSpec[]): string {
  const terms = new Set<number>();
  for (const { path, by } of lookups) {
    const value = valueAt(doc, path);
    if (by === 'text') {
      if (typeof value === 'string') gramsOf(value, 1, seedOf(by, path), terms);
    } else if (Array.isArray(value)) {
      for (const element of value) if (element === null || isScalar(element)) terms.add(valueTerm(path, element));
    } else if (isScalar(value)) terms.add(valueTerm(path, value));
  }
  let words = '';
  for (const term of terms) words += words === '' ? tokenOf(term) : ` ${tokenOf(term)}`;
  return words;
}

/** What decides a document's terms: they are the same while this is. */
export const termSource = (doc: Doc, lookups: readonly LookupSpec[]): unknown[] =>
  lookups.map(({ path }) => {
    const value = valueAt(doc, path);
    return Array.isArray(value) ? JSON.stringify(value) : value;
  });

/** An expression that every document matches that the filter matches; null when its look-ups ask for nothing. */
export function matchOf(filter: Filter, lookups: readonly LookupSpec[]): string | null {
  const all: string[] = [];
  for (const { path, by } of lookups) {
    const condition = filter[path] as Condition | undefined;
    if (condition === undefined) continue;
    const asked = by === 'text' ? ofText(path, condition) : ofValue(path, condition);
    all.push(...asked);
  }
  if (filter.or !== undefined) {
    const any = alternatives(filter.or).map((one) => matchOf(one, lookups));
    if (any.length > 0 && any.every((one) => one !== null)) all.push(oneOf(any));
  }
  return all.length === 0 ? null : all.join(' AND ');
}

const oneOf = (any: readonly string[]): string => `(${any.map((one) => `(${one})`).join(' OR ')})`;

function ofText(path: string, condition: Condition): string[] {
  if (condition === null || typeof condition !== 'object' || condition.contains === undefined) return [];
  const seed = seedOf('text', path);
  const grams = [condition.contains].flat().flatMap((part) => Array.from(gramsWithin(part, 1, seed), tokenOf));
  return [...new Set(grams)];
}

function ofValue(path: string, condition: Condition): string[] {
  if (condition === null) return [];
  if (typeof condition !== 'object') return [tokenOf(valueTerm(path, condition))];
  const asked: string[] = [];
  if (condition.in !== undefined && condition.in.length > 0 && !condition.in.includes(null))
    asked.push(oneOf(condition.in.map((value) => tokenOf(valueTerm(path, value)))));
  if (condition.has !== undefined) asked.push(tokenOf(valueTerm(path, condition.has)));
  if (condition.has_any !== undefined && condition.has_any.length > 0)
    asked.push(oneOf(condition.has_any.map((value) => tokenOf(valueTerm(path, value)))));
  return asked;
}
