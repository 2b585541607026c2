/** Releases that not every machine is offered yet, as a tab of the releases. */
import joi from 'joi';
import { createCsvFile, View, type HttpRequest, type PageSpec, type Reply } from '../../../kernel/contract/index.js';
import { formatCsvRecords } from '../../../lib/text/csv.js';
import type { CachedRelease } from '../update-check/channel-releases.js';
import type { ReleaseServices } from '../services.js';
import { loadAdoption } from './adoption.js';
import { RELEASE_MEMBER_AUTH } from './release-display.js';

const PAGE_TITLE = 'Rollouts';
const MAX_ROLLOUTS = 50;

/** Newest first. */
export function listRollouts(
  index: Pick<ReleaseServices['index'], 'listChannels' | 'listProducts' | 'getChannel'>,
  product: string | undefined,
): CachedRelease[] {
  const products = product === undefined ? index.listProducts() : [product];
  const all = products.flatMap((one) =>
    index.listChannels(one).flatMap((channel) => Array.from(index.getChannel(one, channel).releases.listAll())),
  );
  return all
    .filter((one) => one.withdrawn_at === null && (one.rollout_percent < 100 || one.halted_at !== null))
    .toSorted((a, b) => (a.published_at < b.published_at ? 1 : -1))
    .slice(0, MAX_ROLLOUTS);
}

const CSV_COLUMNS = [
  'product',
  'version',
  'channel',
  'platform',
  'rollout_percent',
  'halted_at',
  'published_at',
] as const;

async function renderRollouts({ deps, index }: ReleaseServices, { query }: HttpRequest): Promise<View | Reply> {
  const { product, format } = query as { product?: string; format?: 'csv' };
  await index.ensureCurrent();
  if (format === 'csv') return createCsvFile('rollouts', formatCsvRecords(CSV_COLUMNS, listRollouts(index, product)));
  const items = listRollouts(index, product).map(async (release) => {
    const adoption = await loadAdoption(deps, release);
    return Object.assign({}, release, {
      href: `/releases/${release.id}`,
      adoption: adoption === null ? null : { updated: adoption.updated, all: adoption.all, href: adoption.href },
    });
  });
  const search = new URLSearchParams({ ...(product && { product }), format: 'csv' });
  return new View('rollouts', {
    live_topics: 'releases',
    items: await Promise.all(items),
    csv: `/rollouts?${search.toString()}`,
  });
}

export const rolloutPages = (services: ReleaseServices): PageSpec[] => [
  {
    path: '/rollouts',
    title: PAGE_TITLE,
    nav: {
      section: 'delivery',
      label: PAGE_TITLE,
      icon: 'release',
      order: 15,
      within: '/releases',
      also: ['staged rollout', 'halt', 'resume'],
    },
    access: RELEASE_MEMBER_AUTH,
    projectQuery: 'product',
    input: {
      query: joi.object({ product: joi.string().max(64).empty(''), format: joi.string().valid('csv').empty('') }),
    },
    handle: (request) => renderRollouts(services, request),
  },
];
