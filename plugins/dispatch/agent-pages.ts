/** /agents: what agents do now, what they get next, and how to connect one (contract 80). */
import joi from 'joi';
import { createCsvFile, View, type HttpRequest, type PageSpec, type Reply } from '../../kernel/contract/index.js';
import { formatCsvTable } from '../../lib/text/csv.js';
import type { AgentWork } from '../../ports/domain/agent-requests.js';
import type { Item } from '../../ports/domain/bugs.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import { listConnectGuides } from './connect-guides.js';

export const AGENTS_PATH = '/agents';

const memberAccess = { session: 'member' } as const;
const MAX_ROWS = 100;
const LIVE_TOPICS = 'bugs';
const projectInput = {
  projectQuery: 'project',
  input: {
    query: joi.object({ project: joi.string().max(64).empty(''), format: joi.string().valid('csv').empty('') }),
  },
} as const;

export interface AgentPageDeps {
  work: AgentWork;
  projects: Pick<ProjectDirectory, 'list'>;
  /** With port 0, known only after the server listens. */
  baseUrl: () => string;
}

const getProject = ({ query }: HttpRequest): string | null =>
  typeof query['project'] === 'string' ? query['project'] : null;

const MAX_EXPORTED_ROWS = 1000;

const isExport = ({ query }: HttpRequest): boolean => query['format'] === 'csv';

/** Address of the list as CSV, with its project. */
const getCsvHref = (path: string, request: HttpRequest): string => {
  const project = getProject(request);
  return `${path}?${new URLSearchParams({ ...(project !== null && { project }), format: 'csv' }).toString()}`;
};

const exportItems = (name: string, items: readonly Item[]): Reply =>
  createCsvFile(
    name,
    formatCsvTable(
      ['ref', 'title', 'project', 'severity', 'agent', 'claimed_at', 'lease_ends_at', 'events', 'created_at'],
      items.map(({ ref, title, project, severity, claim, hit_count, created_at }) => [
        ref,
        title,
        project,
        severity,
        claim?.agent ?? null,
        claim?.claimed_at ?? null,
        claim?.expires_at ?? null,
        hit_count,
        created_at,
      ]),
    ),
  );

export function buildAgentPages({ work, projects, baseUrl }: AgentPageDeps): PageSpec[] {
  const toRows = async (items: readonly Item[]): Promise<object[]> => {
    const names = new Map((await projects.list()).map(({ slug, name }) => [slug, name]));
    return items.map(({ ref, title, severity, regression, project, claim, hit_count, created_at }) => ({
      ref,
      title,
      severity,
      regression,
      project: names.get(project) ?? project,
      claim,
      hit_count,
      created_at,
    }));
  };
  return [
    {
      path: AGENTS_PATH,
      title: 'Agents',
      nav: {
        section: 'work',
        label: 'Agents',
        tab: 'Working now',
        icon: 'robot',
        order: 20,
        also: ['claims', 'leases', 'mcp', 'working'],
        badge: async (project) => (await work.countWorking(project ?? null)) || null,
      },
      access: memberAccess,
      ...projectInput,
      handle: async (request) => {
        const project = getProject(request);
        if (isExport(request)) return exportItems('agents', await work.listWorking(project, MAX_EXPORTED_ROWS));
        const items = await toRows(await work.listWorking(project, MAX_ROWS));
        return new View('agents', { items, csv: getCsvHref(AGENTS_PATH, request), live_topics: LIVE_TOPICS });
      },
    },
    {
      path: `${AGENTS_PATH}/queue`,
      title: 'Queue',
      nav: {
        section: 'work',
        within: AGENTS_PATH,
        label: 'Queue',
        icon: 'inbox',
        order: 10,
        also: ['next', 'waiting'],
      },
      access: memberAccess,
      ...projectInput,
      handle: async (request) => {
        const rows = isExport(request) ? MAX_EXPORTED_ROWS : MAX_ROWS;
        const { items, total } = await work.listQueue(getProject(request), rows);
        if (isExport(request)) return exportItems('agent-queue', items);
        return new View('agent-queue', {
          items: await toRows(items),
          csv: getCsvHref(`${AGENTS_PATH}/queue`, request),
          total,
          more: Math.max(0, total - items.length),
          live_topics: LIVE_TOPICS,
        });
      },
    },
    {
      path: `${AGENTS_PATH}/connect`,
      title: 'Connect an agent',
      nav: {
        section: 'work',
        within: AGENTS_PATH,
        label: 'Connect',
        icon: 'link',
        order: 30,
        also: ['claude code', 'cursor', 'codex', 'mcp server', 'gemini'],
      },
      access: memberAccess,
      handle: () => {
        const url = `${baseUrl().replace(/\/+$/, '')}/mcp`;
        return new View('agent-connect', { url, guides: listConnectGuides(url) });
      },
    },
  ];
}
