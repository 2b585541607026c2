import joi from 'joi';
import {
  getFormFields,
  fromForm,
  createFormPage,
  Redirect,
  getSecondsUntil,
  View,
  type HttpRequest,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { invalid, notFound } from '../../../kernel/errors.js';
import type { TokenRecord } from '../../../ports/domain/tokens.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { WatchdogServices } from '../services.js';
import { getMonitorPageHref } from './monitor-form.js';
import { buildSchedulerSnippets, buildReportingSnippets } from './snippets.js';

const access = { session: 'admin' } as const;
const DAY_SECONDS = 86_400;
export const TOKEN_LIFETIMES = [
  { value: String(30 * DAY_SECONDS), label: '30 days' },
  { value: String(90 * DAY_SECONDS), label: '90 days' },
  { value: String(365 * DAY_SECONDS), label: '1 year' },
];

const sourceSchema = joi.string().max(200).required();
const formSchema = joi.object({
  name: joi.string().trim().min(1).max(100).required(),
  expires_in_seconds: joi
    .number()
    .valid(...TOKEN_LIFETIMES.map(({ value }) => Number(value)))
    .empty('')
    .default(null),
  expires_on: joi.string().max(20).empty('').default(''),
});

interface TokenForm {
  name: string;
  expires_in_seconds: number | null;
  expires_on: string;
}

export async function listMonitorTokens(
  { tokens, clock }: Pick<WatchdogServices, 'tokens' | 'clock'>,
  monitor: string,
  { principal }: Pick<HttpRequest, 'principal'>,
): Promise<(TokenRecord & { state: string })[] | null> {
  if (principal.kind !== 'session' || principal.role !== 'admin') return null;
  const now = clock.iso();
  const state = ({ revoked_at, expires_at }: TokenRecord): string =>
    revoked_at !== null ? 'revoked' : expires_at !== null && expires_at <= now ? 'expired' : 'active';
  const all = await tokens.list({ kind: 'watchdog', source: monitor });
  return all.map((token) => Object.assign({ state: state(token) }, token));
}

/** @param again renders the monitor's page with the errors */
export function buildMonitorTokenPages(
  { monitors, tokens, audit, clock, baseUrl, timezone }: WatchdogServices,
  again: (request: HttpRequest, errors: Record<string, string>) => Promise<View>,
): PageSpec[] {
  const need = (request: HttpRequest) =>
    monitors.getMonitor(request.params['source'] ?? '', toWatchdogCaller(request.principal));

  const issue = async (request: HttpRequest): Promise<View> => {
    const doc = await need(request);
    const { name, expires_in_seconds, expires_on } = fromForm(formSchema, getFormFields(request)) as TokenForm;
    const made = await tokens.issue({
      kind: 'watchdog',
      name,
      scopes: ['watchdog:ping'],
      source: doc.source,
      project: doc.project,
      expires_in_seconds: getSecondsUntil(expires_on, clock.now()) ?? expires_in_seconds,
      created_by: toWatchdogCaller(request.principal).name,
    });
    await audit.record(request.principal, 'token.created', name, { kind: 'watchdog', source: doc.source });
    const here = `${getMonitorPageHref(doc.source)}?tab=setup`;
    return new View('monitor-token', {
      title: 'Token created',
      crumbs: [{ label: 'Monitors', href: '/monitors' }, { label: doc.source, href: here }, { label: 'Token' }],
      monitor: doc.source,
      here,
      name,
      secret: made.token,
      expires_at: made.expires_at,
      snippets: buildReportingSnippets(baseUrl(), doc.source, made.token, timezone),
      schedulers: buildSchedulerSnippets(baseUrl(), made.token),
    }).asOneTimeView({ label: doc.source, href: here });
  };

  return [
    createFormPage(
      {
        path: '/monitors/{source}/tokens',
        title: 'Token created',
        access,
        creates: true,
        input: { params: joi.object({ source: sourceSchema }) },
      },
      (request) => issue(request),
      (request, { errors }) => again(request, errors),
    ),
    {
      method: 'POST',
      path: '/monitors/{source}/tokens/{id}/revoke',
      title: 'Revoke token',
      access,
      input: { params: joi.object({ source: sourceSchema, id: joi.string().guid().required() }) },
      handle: async (request) => {
        const doc = await need(request);
        const id = request.params['id'] ?? '';
        const token = await tokens.find(id);
        if (token?.kind !== 'watchdog' || token.source !== doc.source) throw notFound(`token ${id}`);
        if (!(await tokens.revoke(id))) throw invalid({ id: 'is gone' });
        await audit.record(request.principal, 'token.revoked', token.name, { kind: 'watchdog', source: doc.source });
        return new Redirect(`${getMonitorPageHref(doc.source)}?tab=setup`, {
          tone: 'success',
          message: `Revoked ${token.name}.`,
        });
      },
    },
  ];
}
