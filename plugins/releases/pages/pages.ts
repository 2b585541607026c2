/**
 * The pages /releases: members read, administrators withdraw, roll out and promote (contract 80).
 */
import joi from 'joi';
import {
  pageActions,
  Redirect,
  View,
  type HttpRequest,
  type PageResult,
  type PageSpec,
  type Problem,
} from '../../../kernel/contract.js';
import { invalid, notFound } from '../../../kernel/errors.js';
import type { ManifestFile } from '../../../lib/formats/manifest.js';
import { listFirstFiles } from './manifest-files.js';
import type { ReleaseDoc } from '../model.js';
import { PLATFORMS, type Platform } from '../../../lib/formats/platform.js';
import { checkChannel } from '../place.js';
import type { ReleaseServices } from '../services.js';
import { listShownCommits } from './commits.js';
import { listChannels, parsePercent } from './choices.js';
import { listShownFaults } from './faults.js';
import { getShownHealth } from './health.js';
import { publishPages } from './publish.js';
import { RELEASE_ADMIN_AUTH, crumb, RELEASE_MEMBER_AUTH, toAdoptionShares, toShownRelease, title } from './shown.js';

const PAGE = 50;
const FILES = 200;
const MARKS = [0, 25, 50, 75, 100];

const params = joi.object({ id: joi.string().hex().length(40).required() });
const text = (most: number) => joi.string().max(most).empty('');

interface Parts {
  services: ReleaseServices;
  request: HttpRequest;
  doc: ReleaseDoc;
}

async function partsOf(services: ReleaseServices, request: HttpRequest): Promise<Parts> {
  const doc = await services.docs.get(request.params['id'] ?? '');
  if (doc === null) throw notFound('such release');
  return { services, request, doc };
}

const isAdmin = ({ principal }: HttpRequest): boolean => principal.kind === 'session' && principal.role === 'admin';

const productsOf = async ({ deps }: ReleaseServices): Promise<{ value: string; label: string }[]> =>
  (await deps.projects.list()).map(({ slug, name }) => ({ value: slug, label: name }));

async function filesOf({ services, doc }: Parts): Promise<ManifestFile[]> {
  const manifest = await services.manifests.read(doc.id, doc.manifest_sha256);
  return manifest === null ? [] : listFirstFiles(manifest, FILES);
}

async function detail(parts: Parts, problem?: Problem): Promise<View> {
  const { services, request, doc } = parts;
  const [files, adoption, products, health, commits, faults] = await Promise.all([
    filesOf(parts),
    services.deps.watchdog()?.adoption(doc.product) ?? Promise.resolve([]),
    productsOf(services),
    getShownHealth(services, doc),
    listShownCommits(services, doc),
    listShownFaults(services.deps, doc),
  ]);
  return new View('release', {
    live_topics: 'releases',
    title: `${doc.product} ${doc.version}`,
    crumbs: [crumb, { label: `${doc.product} ${doc.version}` }],
    release: toShownRelease(doc),
    products,
    files,
    more: doc.file_count > files.length,
    adoption,
    health,
    commits,
    faults,
    channels: listChannels(services.index, doc.product).filter((name) => name !== doc.channel),
    parts: toAdoptionShares(adoption, doc.version),
    marks: MARKS,
    changes: isAdmin(request) && doc.withdrawn_at === null,
    typed: problem === undefined ? {} : request.body,
    ...problem,
  });
}

const chosen = ({ product, channel, version, platform }: ReleaseDoc) => ({ product, channel, version, platform });

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function change(
  services: ReleaseServices,
  name: string,
  run: (parts: Parts, body: Record<string, unknown>) => Promise<PageResult>,
): PageSpec {
  const action = pageActions(
    { path: '/releases/{id}', title, access: RELEASE_ADMIN_AUTH, input: { params } },
    async (request, problem) => detail(await partsOf(services, request), problem),
  );
  return action(name, async (request) =>
    run(await partsOf(services, request), (request.body ?? {}) as Record<string, unknown>),
  );
}

const done = (id: string, message: string): Redirect => new Redirect(`/releases/${id}`, { tone: 'success', message });

export function pages(services: ReleaseServices): PageSpec[] {
  const { changes, docs } = services;
  return [
    {
      path: '/releases',
      title,
      nav: {
        section: 'delivery',
        label: title,
        icon: 'release',
        order: 10,
        also: ['updates', 'versions', 'packages', 'channels', 'builds', 'deploys', 'downloads', 'rollouts'],
      },
      access: RELEASE_MEMBER_AUTH,
      projectQuery: 'product',
      input: {
        query: joi.object({
          product: text(64),
          channel: text(64),
          platform: joi
            .string()
            .valid(...PLATFORMS)
            .empty(''),
          cursor: joi.string().max(4096),
        }),
      },
      handle: async (request) => {
        const { query } = request;
        const { product, channel, platform, cursor } = query as Partial<Record<string, string>>;
        const filter = { product, channel, platform: platform as Platform | undefined };
        const page = await docs.page(filter, PAGE, cursor ?? null);
        return new View('releases', {
          live_topics: 'releases',
          items: page.items.map(toShownRelease),
          next_cursor: page.next,
          products: await productsOf(services),
          channels: listChannels(services.index, product),
          admin: isAdmin(request),
          platforms: PLATFORMS.map((name) => ({ value: name, label: name })),
          filtered: [product, channel, platform].some((value) => value !== undefined),
          command: 'aos token create --name ci --scopes updateservice:publish --project shop',
        });
      },
    },
    ...publishPages(services),
    {
      path: '/releases/{id}',
      title,
      access: RELEASE_MEMBER_AUTH,
      input: { params },
      handle: async (request) => detail(await partsOf(services, request)),
    },
    change(services, 'rollout', async ({ request, doc }, body) => {
      const percent = parsePercent(body['rollout_percent']);
      await changes.rollout(request.principal, chosen(doc), percent);
      return done(doc.id, `Offered to ${percent} % of the machines.`);
    }),
    change(services, 'halt', async ({ request, doc }, body) => {
      const reason = textOf(body['reason']).trim();
      if (reason === '') throw invalid({ reason: 'say why the rollout is stopped' });
      await changes.haltNow(request.principal, chosen(doc), reason);
      return done(doc.id, `${doc.version} is halted: no machine is offered it until the rollout is set again.`);
    }),
    change(services, 'withdraw', async ({ request, doc }, body) => {
      await changes.withdraw(request.principal, chosen(doc), textOf(body['reason']));
      return done(doc.id, `${doc.version} is withdrawn.`);
    }),
    change(services, 'promote', async ({ request, doc }, body) => {
      const to = checkChannel(textOf(body['to']), invalid, 'to');
      const percent = parsePercent(body['rollout_percent']);
      const { principal } = request;
      const by = principal.kind === 'session' ? principal.username : principal.kind;
      const [published] = await changes.promote(principal, chosen(doc), to, percent, by);
      return done(published?.release.id ?? doc.id, `${doc.version} is in ${to}.`);
    }),
  ];
}
