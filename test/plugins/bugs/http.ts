/** The plugin's routes over HTTP, on a fixture's services. */
import { buildBugRoutes } from '../../../plugins/bugs/http/routes.js';
import { TestServer, type Asked } from '../../adapters/hapi/support.js';
import type { Fixture } from './fixture.js';

export const BASE = '/api/bugtracker/v1';
export const REPORT = 'master:bugtracker:report';
export const READ = 'master:bugtracker:read';
export const MANAGE = 'master:bugtracker:manage';
/** Another credential with the same rights. */
export const OTHER = 'master#2:bugtracker:manage';

export type Ask = (
  method: string,
  path: string,
  json?: object,
  options?: { bearer?: string; headers?: Record<string, string> },
) => Promise<Asked>;

/** The same for tests that look at many shapes of answers. */
export type AskFreely = (...requested: Parameters<Ask>) => Promise<{ status: number; body: Record<string, unknown> }>;

/** Asks below the API's base, by default as a caller that may manage. */
export async function httpOf(fixture: Fixture): Promise<Ask> {
  const server = await TestServer.create({ routes: buildBugRoutes(fixture) });
  return (method, path, json, { bearer = MANAGE, headers = {} } = {}) =>
    server.ask(method, `${BASE}${path}`, { bearer, headers, ...(json !== undefined && { json }) });
}
