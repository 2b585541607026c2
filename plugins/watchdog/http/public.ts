/**
 * What works without a credential of the API (contract 30, beyond the specification): ping URLs for cron, whose path holds
 * the token, and badges of monitors that are `public`.
 */
import joi from 'joi';
import { text, type HttpRequest, type RouteSpec } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import type { Authenticator, TokenPrincipal } from '../../../ports/http.js';
import { badgeSvg } from './badge.js';
import { callerOf } from '../caller.js';
import { heartbeatOf } from '../heartbeat/heartbeat.js';
import type { Services } from '../services.js';
import { looksLikeId } from '../monitors/source.js';

/** An exit code of a program, or the words of the ping URL. */
const SIGNAL = /^(fail|start|[0-9]{1,3})$/;

const nothing = (): Error => notFound('such ping URL');

/** @throws ServiceError not_found */
async function tokenOf(authenticator: Authenticator, secret: string): Promise<TokenPrincipal & { source: string }> {
  const principal = secret.startsWith('wd_live_') ? await authenticator.bearer(secret) : null;
  if (principal?.kind !== 'token' || principal.token_kind !== 'watchdog' || principal.source === null) throw nothing();
  if (!principal.scopes.includes('watchdog:ping')) throw nothing();
  return { ...principal, source: principal.source };
}

export function publicRoutes({ intake, monitors, authenticator, beats }: Services): RouteSpec[] {
  const ping = async (request: HttpRequest): Promise<object> => {
    const signal = request.params['signal'];
    if (signal !== undefined && (!SIGNAL.test(signal) || Number(signal) > 255)) throw nothing();
    const token = await tokenOf(authenticator, request.params['token'] ?? '');
    if (signal !== 'start') {
      const status = signal === undefined || /^0+$/.test(signal) ? 'ok' : 'error';
      const message = status === 'ok' || signal === 'fail' ? null : `Exit code ${signal}`;
      await intake.beat(heartbeatOf({ source: token.source, status, message }), callerOf(token));
      beats();
    }
    return text('OK').header('cache-control', 'no-store');
  };
  const params = { token: joi.string().max(100).required() };
  return [
    {
      method: ['GET', 'POST'],
      path: '/ping/{token}',
      summary: 'Heartbeat of a cron job: the path holds its watchdog token',
      access: 'public',
      input: { params: joi.object(params) },
      output: joi.string(),
      handle: ping,
    },
    {
      method: ['GET', 'POST'],
      path: '/ping/{token}/{signal}',
      summary: 'The same with an outcome: `fail`, `start` (changes no state), or an exit code',
      access: 'public',
      input: { params: joi.object({ ...params, signal: joi.string().max(10).required() }) },
      output: joi.string(),
      handle: ping,
    },
    {
      method: 'GET',
      path: '/badge/{file}',
      summary: 'State of a public monitor as an image: /badge/<id>.svg',
      access: 'public',
      input: { params: joi.object({ file: joi.string().max(100).required() }) },
      output: joi.string(),
      handle: async (request) => {
        const [, id = ''] = /^(.+)\.svg$/.exec(request.params['file'] ?? '') ?? [];
        const monitor = looksLikeId(id) ? await monitors.find(id) : null;
        if (!monitor?.public) throw notFound('such badge');
        return text(badgeSvg(monitor.name, monitor.state), 'image/svg+xml; charset=utf-8').header(
          'cache-control',
          'public, max-age=30',
        );
      },
    },
  ];
}
