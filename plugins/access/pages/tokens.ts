/** /tokens: tokens are made, revoked and deleted here by administrators (contract 10, tokens; contract 80). */
import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec, type Problem } from '../../../kernel/contract.js';
import { secondsUntil } from '../../../kernel/contract.js';
import type { TokenRecord } from '../../../ports/domain/tokens.js';
import type { TokenKind } from '../../../ports/http.js';
import type { AccessServices } from '../assemble.js';
import { isLive } from '../model/token.js';
import { field, fields, formPage, signedIn } from './form.js';
import { tokenSnippets } from './token-snippets.js';
import { presetsOf, scopeGroups } from './scopes.js';

const access = { session: 'admin' } as const;
const title = 'Tokens';
const params = joi.object({ id: joi.string().guid().required() });

const KINDS: readonly { kind: TokenKind; label: string }[] = [
  { kind: 'master', label: 'Master' },
  { kind: 'watchdog', label: 'Watchdog' },
  { kind: 'sub', label: 'Sub-tokens' },
  { kind: 'setup', label: 'Setup' },
  { kind: 'intake', label: 'Intake keys' },
];

const DAY = 86_400;
const LIVES = [
  { value: String(DAY), label: '1 day' },
  { value: String(30 * DAY), label: '30 days' },
  { value: String(90 * DAY), label: '90 days' },
  { value: String(365 * DAY), label: '1 year' },
];

export function tokenPages(services: AccessServices): PageSpec[] {
  const { tokens, masters, system, clock } = services;

  const state = (token: TokenRecord): string => {
    if (token.revoked_at !== null) return 'revoked';
    return isLive(token, clock.iso()) ? 'active' : 'expired';
  };

  const list = async (request: HttpRequest): Promise<View> => {
    const { kind, project, cursor } = request.query as { kind: TokenKind; project?: string; cursor?: string };
    const page = await tokens.page({ kind, project }, 50, cursor ?? null);
    const children =
      kind === 'master' ? await tokens.children(page.items.map(({ id }) => id)) : new Map<string, number>();
    const names = new Map((await services.projects.options()).map(({ value, label }) => [value, label]));
    const items = page.items.map((token) => ({
      ...token,
      project_name: token.project === null ? null : (names.get(token.project) ?? token.project),
      state: state(token),
      sub_tokens: children.get(token.id) ?? 0,
    }));
    const tabs = KINDS.map((one) => ({
      label: one.label,
      href: `/tokens?kind=${one.kind}`,
      active: one.kind === kind,
    }));
    return new View('tokens', { items, tabs, kind, masters: kind === 'master', next_cursor: page.next });
  };

  /** @param request what was typed, where it was refused; a GET brings the set that was chosen */
  const form = async (request: HttpRequest, problem: Partial<Problem> = {}): Promise<View> => {
    const again = request.body !== null;
    const presets = presetsOf(system.scopes());
    const named = again ? field(request, 'preset') : request.query['preset'];
    const preset = presets.find(({ id }) => id === named);
    const chosen = again ? fields(request, 'scopes') : (preset?.scopes ?? []);
    const projects = await services.projects.options();
    // One project is the one that is meant.
    const only = projects.length === 1 ? projects[0]?.value : undefined;
    const asked = request.query['project'] as string | undefined;
    const project = projects.find(({ value }) => value === asked)?.value ?? (preset && only) ?? '';
    const begun: Readonly<Record<string, string>> = {
      name: preset === undefined ? '' : [preset.id, project].filter((part) => part !== '').join(' '),
      project,
    };
    const typed = (name: string): string => (again ? field(request, name) : (begun[name] ?? ''));
    const values = {
      name: typed('name'),
      project: typed('project'),
      source: typed('source'),
      agent: typed('agent'),
      expires: typed('expires_in_seconds'),
      expires_on: typed('expires_on'),
    };
    const crumbs = [{ label: 'Tokens', href: '/tokens' }, { label: 'New token' }];
    return new View('token-new', {
      groups: scopeGroups(system.scopes(), chosen),
      presets: presets.map(({ id, label, text }) => ({ id, label, text, active: id === preset?.id })),
      preset: preset?.id,
      chosen,
      // What a preset has ticked is told in a line; what somebody wants to choose, or to mend, lies open.
      folded: preset !== undefined && problem.errors?.['scopes'] === undefined,
      projects,
      lives: LIVES,
      form: values,
      crumbs,
      ...problem,
    });
  };

  const create = async (request: HttpRequest): Promise<View> => {
    const optional = (name: string): string | null => field(request, name) || null;
    const chosen = optional('expires_in_seconds');
    const until = secondsUntil(field(request, 'expires_on'), clock.now());
    const made = await masters.create(signedIn(request), {
      name: field(request, 'name'),
      scopes: fields(request, 'scopes'),
      project: optional('project'),
      source: optional('source'),
      agent: optional('agent'),
      expires_in_seconds: until ?? (chosen === null ? null : Number(chosen)),
      created_by: signedIn(request).username,
    });
    const { project, scopes } = made.record;
    const given = { baseUrl: services.app.base_url.replace(/\/$/, ''), secret: made.token, project };
    return new View('token-created', {
      title: 'Token created',
      secret: made.token,
      token: made.record,
      snippets: tokenSnippets(field(request, 'preset'), scopes, given),
    }).shownOnce({
      label: 'Tokens',
      href: '/tokens',
    });
  };

  const action = (name: string, run: (request: HttpRequest, id: string) => Promise<string>): PageSpec => ({
    method: 'POST',
    path: `/tokens/{id}/${name}`,
    title,
    access,
    input: { params },
    handle: async (request) => {
      const id = request.params['id'] ?? '';
      const { kind } = await tokens.need(id);
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
        label: 'Tokens',
        icon: 'key',
        order: 30,
        also: ['api keys', 'keys', 'credentials', 'secrets'],
      },
      access,
      projectQuery: 'project',
      input: {
        query: joi.object({
          kind: joi
            .string()
            .valid(...KINDS.map(({ kind }) => kind))
            .default('master'),
          project: joi.string().max(64).empty(''),
          cursor: joi.string().max(4096),
        }),
      },
      handle: list,
    },
    {
      path: '/tokens/new',
      title: 'New token',
      access,
      projectQuery: 'project',
      input: { query: joi.object({ preset: joi.string().max(32), project: joi.string().max(64).empty('') }) },
      handle: (request) => form(request),
    },
    formPage(
      { path: '/tokens', title: 'New token', access, creates: true },
      (request) => create(request),
      (request, problem) => form(request, problem),
    ),
    action(
      'revoke',
      async (request, id) => `Revoked ${(await masters.revoke(signedIn(request), id)).name} and its sub-tokens.`,
    ),
    action('delete', async (request, id) => {
      const { name } = await tokens.need(id);
      await masters.remove(signedIn(request), id);
      return `Deleted ${name}.`;
    }),
  ];
}
