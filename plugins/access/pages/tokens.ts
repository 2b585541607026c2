import joi from 'joi';
import {
  createCsvFile,
  Redirect,
  View,
  type Reply,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { getSecondsUntil } from '../../../kernel/contract/index.js';
import type { TokenRecord } from '../../../ports/domain/tokens.js';
import type { TokenKind } from '../../../ports/http/index.js';
import type { AccessServices } from '../services.js';
import { isLive } from '../model/token.js';
import { formatCsvPages, type CsvValue } from '../../../lib/text/csv.js';
import { readField, readFields, buildFormPage, requireSession } from './form.js';
import { buildTokenSnippets } from './token-snippets.js';
import { listPresets, groupScopes } from './scopes.js';

const adminAccess = { session: 'admin' } as const;
const title = 'API tokens';
const params = joi.object({ id: joi.string().guid().required() });

const KIND_OPTIONS: readonly { kind: TokenKind; label: string }[] = [
  { kind: 'master', label: 'API tokens' },
  { kind: 'watchdog', label: 'Monitor tokens' },
  { kind: 'sub', label: 'Derived' },
  { kind: 'setup', label: 'Installer' },
  { kind: 'intake', label: 'Intake keys' },
];

const DAY_SECONDS = 86_400;
const LIFETIME_OPTIONS = [
  { value: String(DAY_SECONDS), label: '1 day' },
  { value: String(30 * DAY_SECONDS), label: '30 days' },
  { value: String(90 * DAY_SECONDS), label: '90 days' },
  { value: String(365 * DAY_SECONDS), label: '1 year' },
];

const EXPORT_PAGE_SIZE = 200;
const CSV_COLUMNS = [
  'name',
  'prefix',
  'state',
  'scopes',
  'project',
  'source',
  'agent',
  'created_by',
  'created_at',
  'last_used_at',
  'expires_at',
];

const toCsvRow = (token: TokenRecord, state: string): CsvValue[] => [
  token.name,
  token.prefix,
  state,
  token.scopes.join(' '),
  token.project,
  token.source,
  token.agent ?? null,
  token.created_by,
  token.created_at,
  token.last_used_at,
  token.expires_at,
];

export function buildAccessTokenPages(services: AccessServices): PageSpec[] {
  const { tokens, masters, system, clock } = services;

  const state = (token: TokenRecord): string => {
    if (token.revoked_at !== null) return 'revoked';
    return isLive(token, clock.iso()) ? 'active' : 'expired';
  };

  const list = async (request: HttpRequest): Promise<View> => {
    const { kind, project, cursor } = request.query as { kind: TokenKind; project?: string; cursor?: string };
    const page = await tokens.listPage({ kind, project }, 50, cursor ?? null);
    const children =
      kind === 'master' ? await tokens.countChildren(page.items.map(({ id }) => id)) : new Map<string, number>();
    const names = new Map((await services.projects.listOptions()).map(({ value, label }) => [value, label]));
    const items = page.items.map((token) => ({
      ...token,
      project_name: token.project === null ? null : (names.get(token.project) ?? token.project),
      state: state(token),
      sub_tokens: children.get(token.id) ?? 0,
    }));
    const tabs = KIND_OPTIONS.map((one) => ({
      label: one.label,
      href: `/tokens?kind=${one.kind}`,
      active: one.kind === kind,
    }));
    return new View('tokens', {
      csv_href: `/tokens?${new URLSearchParams({ kind, ...(project && { project }), format: 'csv' }).toString()}`,
      items,
      tabs,
      kind,
      masters: kind === 'master',
      next_cursor: page.next,
    });
  };

  const exportTokens = async (request: HttpRequest): Promise<Reply> => {
    const { kind, project } = request.query as { kind: TokenKind; project?: string };
    const csv = await formatCsvPages(
      CSV_COLUMNS,
      (after) => tokens.listPage({ kind, project }, EXPORT_PAGE_SIZE, after),
      (token) => toCsvRow(token, state(token)),
    );
    return createCsvFile(`tokens-${kind}`, csv);
  };

  /** @param request submitted values after an error; a GET has the preset */
  const form = async (request: HttpRequest, problem: Partial<FormRejection> = {}): Promise<View> => {
    const again = request.body !== null;
    const presets = listPresets(system.listScopes());
    const named = again ? readField(request, 'preset') : request.query['preset'];
    const preset = presets.find(({ id }) => id === named);
    const chosen = again ? readFields(request, 'scopes') : (preset?.scopes ?? []);
    const projects = await services.projects.listOptions();
    const only = projects.length === 1 ? projects[0]?.value : undefined;
    const requestedProject = request.query['project'] as string | undefined;
    const project = projects.find(({ value }) => value === requestedProject)?.value ?? (preset && only) ?? '';
    const begun: Readonly<Record<string, string>> = {
      name:
        (request.query['name'] as string | undefined) ??
        (preset === undefined ? '' : [preset.id, project].filter((part) => part !== '').join(' ')),
      project,
    };
    const typed = (name: string): string => (again ? readField(request, name) : (begun[name] ?? ''));
    const values = {
      name: typed('name'),
      project: typed('project'),
      source: typed('source'),
      agent: typed('agent'),
      expires: typed('expires_in_seconds'),
      expires_on: typed('expires_on'),
    };
    const crumbs = [{ label: title, href: '/tokens' }, { label: 'New API token' }];
    return new View('token-new', {
      groups: groupScopes(system.listScopes(), chosen),
      presets: presets.map(({ id, label, text }) => ({ id, label, text, active: id === preset?.id })),
      preset: preset?.id,
      chosen,
      // Expanded for a custom choice or an error.
      folded: preset !== undefined && problem.errors?.['scopes'] === undefined,
      projects,
      lives: LIFETIME_OPTIONS,
      form: values,
      crumbs,
      ...problem,
    });
  };

  const create = async (request: HttpRequest): Promise<View> => {
    const optional = (name: string): string | null => readField(request, name) || null;
    const chosen = optional('expires_in_seconds');
    const until = getSecondsUntil(readField(request, 'expires_on'), clock.now());
    const made = await masters.create(requireSession(request), {
      name: readField(request, 'name'),
      scopes: readFields(request, 'scopes'),
      project: optional('project'),
      source: optional('source'),
      agent: optional('agent'),
      expires_in_seconds: until ?? (chosen === null ? null : Number(chosen)),
      created_by: requireSession(request).username,
    });
    const { project, scopes } = made.record;
    const given = { baseUrl: services.app.base_url.replace(/\/$/, ''), secret: made.token, project };
    return new View('token-created', {
      title: 'Token created',
      secret: made.token,
      token: made.record,
      snippets: buildTokenSnippets(readField(request, 'preset'), scopes, given),
    }).asOneTimeView({
      label: title,
      href: '/tokens',
    });
  };

  const action = (name: string, run: (request: HttpRequest, id: string) => Promise<string>): PageSpec => ({
    method: 'POST',
    path: `/tokens/{id}/${name}`,
    title,
    access: adminAccess,
    input: { params },
    handle: async (request) => {
      const id = request.params['id'] ?? '';
      const { kind } = await tokens.getToken(id);
      const message = await run(request, id);
      return new Redirect(`/tokens?kind=${kind}`, { tone: 'success', message });
    },
  });

  return [
    {
      path: '/tokens',
      title,
      nav: {
        section: 'administration',
        group: 'workspace',
        label: 'API tokens',
        icon: 'key',
        order: 30,
        also: ['api keys', 'keys', 'credentials', 'secrets'],
      },
      access: adminAccess,
      projectQuery: 'project',
      input: {
        query: joi.object({
          kind: joi
            .string()
            .valid(...KIND_OPTIONS.map(({ kind }) => kind))
            .default('master'),
          project: joi.string().max(64).empty(''),
          cursor: joi.string().max(4096),
          format: joi.string().valid('csv').empty(''),
        }),
      },
      handle: (request) => (request.query['format'] === 'csv' ? exportTokens(request) : list(request)),
    },
    {
      path: '/tokens/new',
      title: 'New API token',
      access: adminAccess,
      projectQuery: 'project',
      input: {
        query: joi.object({
          preset: joi.string().max(32),
          name: joi.string().max(100).empty(''),
          project: joi.string().max(64).empty(''),
        }),
      },
      handle: (request) => form(request),
    },
    buildFormPage(
      { path: '/tokens', title: 'New API token', access: adminAccess, creates: true },
      (request) => create(request),
      (request, problem) => form(request, problem),
    ),
    action('revoke', async (request, id) => `Revoked ${(await masters.revoke(requireSession(request), id)).name}.`),
    action('delete', async (request, id) => {
      const { name } = await tokens.getToken(id);
      await masters.remove(requireSession(request), id);
      return `Deleted ${name}.`;
    }),
  ];
}
