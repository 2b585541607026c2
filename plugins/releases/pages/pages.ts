import joi from 'joi';
import {
  createPageActions,
  Redirect,
  View,
  type HttpRequest,
  type PageResult,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { invalid, notFound } from '../../../kernel/errors.js';
import type { ManifestFile } from '../../../lib/formats/manifest.js';
import { listFirstFiles } from './manifest-files.js';
import type { ReleaseDoc } from '../model.js';
import { PLATFORMS, type Platform } from '../../../lib/formats/platform.js';
import { checkChannel } from '../release-place.js';
import type { ReleaseServices } from '../services.js';
import { loadAdoption } from './adoption.js';
import { listShownCommits } from './commits.js';
import { listReleaseEvents } from './events.js';
import { listChannels, listPromotionChannels, parsePercent } from './form-options.js';
import { listShownFaults } from './faults.js';
import { listShownFixes } from './fixes.js';
import { getShownHealth } from './health.js';
import { publishPages } from './publish.js';
import { buildCsvUrl, buildReleaseCsv } from './release-csv.js';
import {
  RELEASE_ADMIN_AUTH,
  RELEASES_CRUMB,
  RELEASE_MEMBER_AUTH,
  toAdoptionShares,
  toShownRelease,
  RELEASES_TITLE,
} from './release-display.js';
import { rolloutPages } from './rollouts.js';

const PAGE_SIZE = 50;
const MAX_SHOWN_FILES = 200;
const ROLLOUT_STEPS = [1, 5, 10, 25, 50, 100];

const releaseIdParams = joi.object({ id: joi.string().hex().length(40).required() });
const textSchema = (most: number) => joi.string().max(most).empty('');

interface ReleasePageContext {
  services: ReleaseServices;
  request: HttpRequest;
  doc: ReleaseDoc;
}

async function loadContext(services: ReleaseServices, request: HttpRequest): Promise<ReleasePageContext> {
  const doc = await services.docs.get(request.params['id'] ?? '');
  if (doc === null) throw notFound('such release');
  return { services, request, doc };
}

const isAdmin = ({ principal }: HttpRequest): boolean => principal.kind === 'session' && principal.role === 'admin';

const listProductOptions = async ({ deps }: ReleaseServices): Promise<{ value: string; label: string }[]> =>
  (await deps.projects.list()).map(({ slug, name }) => ({ value: slug, label: name }));

async function listFiles({ services, doc }: ReleasePageContext): Promise<ManifestFile[]> {
  const manifest = await services.manifests.read(doc.id, doc.manifest_sha256);
  return manifest === null ? [] : listFirstFiles(manifest, MAX_SHOWN_FILES);
}

async function renderDetail(parts: ReleasePageContext, problem?: FormRejection): Promise<View> {
  const { services, request, doc } = parts;
  const [files, adoption, products, health, commits, faults, fixes, hasLater, events] = await Promise.all([
    listFiles(parts),
    loadAdoption(services.deps, doc),
    listProductOptions(services),
    getShownHealth(services, doc),
    listShownCommits(services, doc),
    listShownFaults(services.deps, doc),
    listShownFixes(services.deps, doc),
    services.rollbacks.hasLater(doc),
    listReleaseEvents(services.deps.audit, doc),
  ]);
  return new View('release', {
    live_topics: 'releases',
    title: `${doc.product} ${doc.version}`,
    sections: [
      { id: 'notes', label: 'Notes' },
      ...(fixes === undefined ? [] : [{ id: 'fixes', label: 'Issues fixed', count: fixes.total }]),
      ...(faults === undefined ? [] : [{ id: 'faults', label: 'New issues', count: faults.all }]),
      { id: 'commits', label: 'Commits', count: commits?.total },
      { id: 'files', label: 'Files', count: doc.file_count },
      { id: 'events', label: 'Events', count: events.length },
    ],
    crumbs: [RELEASES_CRUMB, { label: `${doc.product} ${doc.version}` }],
    release: toShownRelease(doc),
    products,
    files,
    more: doc.file_count > files.length,
    adoption,
    health,
    commits,
    faults,
    fixes,
    channels: listPromotionChannels(services.index, doc).map((name) => ({ value: name, label: name })),
    parts: toAdoptionShares(adoption?.versions ?? [], doc.version),
    marks: ROLLOUT_STEPS,
    events,
    changes: isAdmin(request) && doc.withdrawn_at === null,
    has_later: hasLater,
    typed: problem === undefined ? {} : request.body,
    ...problem,
  });
}

const toSelection = ({ product, channel, version, platform }: ReleaseDoc) => ({ product, channel, version, platform });

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

function createActionPage(
  services: ReleaseServices,
  name: string,
  run: (parts: ReleasePageContext, body: Record<string, unknown>) => Promise<PageResult>,
): PageSpec {
  const action = createPageActions(
    { path: '/releases/{id}', title: RELEASES_TITLE, access: RELEASE_ADMIN_AUTH, input: { params: releaseIdParams } },
    async (request, problem) => renderDetail(await loadContext(services, request), problem),
  );
  return action(name, async (request) =>
    run(await loadContext(services, request), (request.body ?? {}) as Record<string, unknown>),
  );
}

const redirectToRelease = (id: string, message: string): Redirect =>
  new Redirect(`/releases/${id}`, { tone: 'success', message });

export function releasePages(services: ReleaseServices): PageSpec[] {
  const { changes, docs, rollbacks } = services;
  return [
    {
      path: '/releases',
      title: RELEASES_TITLE,
      nav: {
        section: 'delivery',
        label: RELEASES_TITLE,
        icon: 'release',
        order: 10,
        also: ['updates', 'versions', 'packages', 'channels', 'builds', 'deploys', 'downloads', 'rollouts'],
      },
      access: RELEASE_MEMBER_AUTH,
      projectQuery: 'product',
      input: {
        query: joi.object({
          product: textSchema(64),
          channel: textSchema(64),
          platform: joi
            .string()
            .valid(...PLATFORMS)
            .empty(''),
          format: joi.string().valid('csv').empty(''),
          cursor: joi.string().max(4096),
        }),
      },
      handle: async (request) => {
        const { query } = request;
        const { product, channel, platform, cursor, format } = query as Partial<Record<string, string>>;
        const filter = { product, channel, platform: platform as Platform | undefined };
        if (format === 'csv') return buildReleaseCsv(docs, filter);
        const page = await docs.listPage(filter, PAGE_SIZE, cursor ?? null);
        return new View('releases', {
          live_topics: 'releases',
          items: page.items.map(toShownRelease),
          csv: buildCsvUrl({ product, channel, platform }),
          next_cursor: page.next,
          products: await listProductOptions(services),
          channels: listChannels(services.index, product),
          admin: isAdmin(request),
          platforms: PLATFORMS.map((name) => ({ value: name, label: name })),
          filtered: [product, channel, platform].some((value) => value !== undefined),
          command: 'aos token create --name ci --scopes updateservice:publish --project shop',
        });
      },
    },
    ...publishPages(services),
    ...rolloutPages(services),
    {
      path: '/releases/{id}',
      title: RELEASES_TITLE,
      access: RELEASE_MEMBER_AUTH,
      input: { params: releaseIdParams },
      handle: async (request) => renderDetail(await loadContext(services, request)),
    },
    createActionPage(services, 'rollout', async ({ request, doc }, body) => {
      const percent = parsePercent(body['rollout_percent']);
      await changes.setRollout(request.principal, toSelection(doc), percent);
      return redirectToRelease(doc.id, `Rollout of ${doc.version} set to ${percent} %.`);
    }),
    createActionPage(services, 'halt', async ({ request, doc }, body) => {
      const reason = toText(body['reason']).trim();
      if (reason === '') throw invalid({ reason: 'is required' });
      await changes.haltManually(request.principal, toSelection(doc), reason);
      return redirectToRelease(doc.id, `Rollout of ${doc.version} halted.`);
    }),
    createActionPage(services, 'withdraw', async ({ request, doc }, body) => {
      await changes.withdraw(request.principal, toSelection(doc), toText(body['reason']));
      return redirectToRelease(doc.id, `Withdrew ${doc.version}.`);
    }),
    createActionPage(services, 'rollback', async ({ request, doc }, body) => {
      const everywhere = { ...toSelection(doc), platform: null };
      const { withdrawn } = await rollbacks.rollBack(request.principal, everywhere, toText(body['reason']));
      const versions = [...new Set(withdrawn.map(({ version }) => version))].join(', ');
      return redirectToRelease(
        doc.id,
        `${doc.version} is the newest release of ${doc.channel}${versions === '' ? '' : `; withdrawn: ${versions}`}.`,
      );
    }),
    createActionPage(services, 'promote', async ({ request, doc }, body) => {
      const to = checkChannel(toText(body['to']), invalid, 'to');
      const percent = parsePercent(body['rollout_percent']);
      const { principal } = request;
      const by = principal.kind === 'session' ? principal.username : principal.kind;
      const [published] = await changes.promote(principal, toSelection(doc), to, percent, by);
      return redirectToRelease(published?.release.id ?? doc.id, `Promoted ${doc.version} to ${to}.`);
    }),
  ];
}
