import joi from 'joi';
import { definePlugin, extend, Reply, View, type HttpRequest, type PageSpec } from '../../kernel/contract/index.js';
import { notFound } from '../../kernel/errors.js';
import { SEARCH_PROVIDERS, type SearchProvider } from '../../ports/domain/search.js';
import { SYSTEM } from '../../ports/domain/system.js';
import type { Manual } from '../../ports/manual.js';
import { buildApiPages } from './api-pages.js';
import { GuideIndex } from './guides.js';

const MAX_HITS = 30;
const CACHE_CONTROL_HOUR = 'private, max-age=3600';

const access = { session: 'member' } as const;

function createGuideHandler(guides: GuideIndex): (request: HttpRequest) => Promise<View> {
  return async ({ params }) => {
    const name = [params['folder'], params['page']].filter(Boolean).join('/');
    const guide = await guides.find(name);
    if (guide === null) throw notFound(`guide ${name}`);
    const contents = guide.sections.filter(({ level }) => level === 2);
    return new View('guide', {
      guide,
      contents,
      title: guide.title,
      crumbs: [{ label: 'Docs', href: '/docs' }, { label: guide.title }],
    });
  };
}

const name = joi
  .string()
  .pattern(/^[a-z0-9][a-z0-9-]{0,99}$/i, 'page name')
  .required();

const buildManualPages = (guides: GuideIndex, manual: Manual): PageSpec[] => [
  {
    path: '/docs',
    title: 'Docs',
    nav: {
      section: 'help',
      label: 'Docs',
      icon: 'book',
      order: 10,
      also: ['API', 'documentation', 'endpoints', 'guides', 'help', 'manual', 'openapi', 'reference', 'swagger'],
    },
    access,
    input: { query: joi.object({ q: joi.string().allow('').max(200).default('') }) },
    handle: async ({ query }) => {
      const q = (query['q'] as string).trim();
      const words = q.toLowerCase().split(/\s+/).filter(Boolean);
      const hits = words.length === 0 ? null : await guides.search(words, MAX_HITS);
      return new View('docs', { q, hits, groups: hits === null ? await guides.listGroups() : [] });
    },
  },
  {
    path: '/docs/components',
    title: 'Components',
    access,
    handle: () => new View('components', { crumbs: [{ label: 'Docs', href: '/docs' }, { label: 'Components' }] }),
  },
  {
    path: '/docs/{page}',
    title: 'Docs',
    access,
    input: { params: joi.object({ page: name }) },
    handle: createGuideHandler(guides),
  },
  {
    path: '/docs/decisions/{page}',
    title: 'Decision',
    access,
    input: { params: joi.object({ page: name }) },
    handle: (request) => createGuideHandler(guides)({ ...request, params: { ...request.params, folder: 'decisions' } }),
  },
  {
    path: '/docs/spec/{page}',
    title: 'Specification',
    access,
    input: { params: joi.object({ page: name }) },
    handle: (request) => createGuideHandler(guides)({ ...request, params: { ...request.params, folder: 'spec' } }),
  },
  {
    path: '/docs/images/{file}',
    title: 'Picture',
    access,
    input: { params: joi.object({ file: joi.string().max(100).required() }) },
    handle: async ({ params }) => {
      const picture = await manual.readPicture(`images/${String(params['file'])}`);
      if (picture === null) throw notFound(`picture ${String(params['file'])}`);
      return new Reply(200, Buffer.from(picture.bytes))
        .header('content-type', picture.type)
        .header('cache-control', CACHE_CONTROL_HOUR);
    },
  },
];

const createGuideSearch = (guides: GuideIndex): SearchProvider => ({
  label: 'Docs',
  icon: 'book',
  order: 90,
  role: 'member',
  find: ({ words, limit }) => guides.search(words, limit, true),
  getListHref: (text) => `/docs?q=${encodeURIComponent(text)}`,
});

export default definePlugin({
  id: 'manual',
  version: '1.0.0',
  api: 1,
  title: 'Guides and API documentation',
  ports: ['manual'],
  needs: [SYSTEM.name],
  extends: [SEARCH_PROVIDERS.point],
  from: import.meta.url,
  setup(ctx) {
    const { manual } = ctx.ports;
    const guides = new GuideIndex(manual);
    return {
      pages: [...buildManualPages(guides, manual), ...buildApiPages(ctx.resolve(SYSTEM), ctx.app)],
      extensions: [extend(SEARCH_PROVIDERS, createGuideSearch(guides))],
    };
  },
});
