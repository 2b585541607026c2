/**
 * The plans of the bug tracker's queries on MongoDB (adapters/mongodb/indexes.ts). No test server
 * shows MongoDB's plans, so they follow from its rules: an index serves a query whose conditions
 * and order it begins with; else it finds what one condition asks for, while another one is walked
 * in the order of the list, and the faster of both is the plan.
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildIndexPlan, listServedFields } from '../../../adapters/mongodb/indexes.js';
import { findPackageRoot } from '../../../config/load.js';
import { COLLECTIONS } from '../../../plugins/bugs/collections.js';
import { toItemFilter, toItemSort, SORT_NAMES, type ItemQuery } from '../../../plugins/bugs/item/filters.js';
import type { CollectionSpec } from '../../../ports/store/index.js';
import { HOT_QUERIES } from './hot-queries.js';

const ITEMS = COLLECTIONS.find(({ name }) => name === 'items') as CollectionSpec;
const { own, shared } = buildIndexPlan(ITEMS);
const OWN = own.map(({ key }) => Object.keys(key).filter((field) => field !== '_id'));
const FEW = shared === null ? [] : listServedFields(shared);

interface Query {
  filter: readonly string[];
  order: string | undefined;
}

const named = (fields: readonly string[]): string => `\`${fields.join(', ')}\``;

/** How many of an index's fields, from its beginning, a filter asks for. */
function leading(fields: readonly string[], filter: readonly string[]): number {
  const other = fields.findIndex((field) => !filter.includes(field));
  return other < 0 ? fields.length : other;
}

/** The index that serves most fields, or null. */
function best(use: (fields: readonly string[]) => number): { fields: readonly string[]; fits: number } | null {
  const rated = OWN.map((fields) => ({ fields, fits: use(fields) })).filter(({ fits }) => fits > 0);
  return rated.toSorted((a, b) => b.fits - a.fits)[0] ?? null;
}

/** Null when every document is read. */
function planOf({ filter, order }: Query): string | null {
  const wanted = [...new Set([...filter, ...(order === undefined ? [] : [order])])];
  const whole = OWN.find((fields) => wanted.every((path, i) => fields[i] === path));
  if (whole !== undefined) return named(whole);
  const few = filter.find((path) => FEW.includes(path));
  if (few !== undefined) return `few ${named([few])}`;
  const finding = best((fields) => leading(fields, filter));
  const walked = best((fields) => {
    const at = order === undefined ? -1 : fields.indexOf(order);
    return at >= 0 && leading(fields, filter) >= at ? at + 1 : 0;
  });
  if (walked !== null && walked.fields === finding?.fields) return `${named(walked.fields)} walked`;
  if (finding === null) return null;
  return walked === null ? named(finding.fields) : `${named(finding.fields)}, or ${named(walked.fields)} walked`;
}

const queryOf = (query: ItemQuery, sort: (typeof SORT_NAMES)[number]): Query => ({
  filter: Object.keys(toItemFilter(query)),
  order: toItemSort(sort)[0]?.[0],
});

/** What each filter of a list may ask for. */
const OFFERED: readonly ItemQuery[] = [
  ...(['project', 'type', 'status', 'severity', 'error_level', 'environment', 'exception_class'] as const),
  ...([
    'target_agent',
    'tag',
    'claimed_by',
    'commit_sha',
    'file_path',
    'push_id',
    'assignee',
    'version',
    'host',
  ] as const),
].map((name): ItemQuery => ({ [name]: ['low'] }));

describe('bugs: query plans on MongoDB', () => {
  it('require few indexes', () => {
    expect(own.length + (shared === null ? 0 : 1) + 1, 'with that of the id').to.equal(16);
  });

  it('match the table in docs/mongodb.md', async () => {
    const page = await readFile(join(findPackageRoot(), 'docs', 'mongodb.md'), 'utf8');
    for (const { for: what, filter, sort } of HOT_QUERIES.filter(({ collection }) => collection === 'items')) {
      const plan = planOf({ filter, order: sort[0]?.[0] });
      const row = page.split('\n').find((line) => line.startsWith(`| ${what} `));
      expect(row?.split('|').at(2)?.trim(), what).to.equal(plan);
    }
  });

  for (const offered of [...OFFERED, { regression: [true] }, { muted: [true] }]) {
    it(`scan no extra documents for a list by ${Object.keys(offered).join()}, in any order or project`, () => {
      for (const sort of SORT_NAMES) {
        expect(planOf(queryOf(offered, sort)), sort).to.be.a('string');
        expect(planOf(queryOf({ ...offered, project: ['shop'] }, sort)), `${sort} in a project`).to.be.a('string');
      }
    });
  }
});
