import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { MountedHosts } from '../../ports/http/index.js';
import { ASSETS_PATH } from './pages/assets.js';
import type { PageServices } from './pages/visitor.js';
import { sendFailure } from './transport/listener.js';
import { NOT_FOUND, getErrorText } from './wire/failure.js';

const TIMES_SCRIPT = `${ASSETS_PATH}times.js`;

const PROBE_PATHS: ReadonlySet<string> = new Set(['/api/health/live', '/api/health/ready']);

interface HostPage {
  plugin: string;
  prefix: string;
}

export class PreRouter {
  /** The host of `server.base_url` serves everything, without a lookup. */
  readonly #ownHost: string;

  constructor(
    private readonly hosts: readonly MountedHosts[],
    private readonly shared: PageServices,
    baseUrl: string,
  ) {
    this.#ownHost = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  }

  /** False when hapi must handle it. */
  tryHandle(req: IncomingMessage, res: ServerResponse, routed: RequestListener): boolean {
    if (PROBE_PATHS.has(req.url ?? '')) return false;
    const name = this.hosts.length === 0 ? null : this.#getHostName(req.headers.host);
    if (name === null) return false;
    const place = findHostPage(this.hosts, name);
    if (!(place instanceof Promise)) return this.#rerouteOrReject(place, req, res);
    place
      .then((found) => this.#rerouteOrReject(found, req, res) || routed(req, res))
      .catch((err: unknown) => {
        this.shared.log.error({ err }, `a host could not be looked up: ${getErrorText(err)}`);
        res.destroy();
      });
    return true;
  }

  /** Null for an IP address or the service's own host. */
  #getHostName(host: string | undefined): string | null {
    const name = (host ?? '').replace(/:\d*$/, '').toLowerCase();
    return name === this.#ownHost || !name.includes('.') || isIP(name) !== 0 ? null : name;
  }

  /** Returns true when nothing matches and the request has been rejected. */
  #rerouteOrReject(place: HostPage | null, req: IncomingMessage, res: ServerResponse): boolean {
    if (place === null) return false;
    const url = this.#resolveUrl(place, req.url ?? '');
    if (url === null) sendFailure(req, res, NOT_FOUND, this.shared.ids);
    else req.url = url;
    return url === null;
  }

  #resolveUrl({ plugin, prefix }: HostPage, url: string): string | null {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    if (path === TIMES_SCRIPT || (path.startsWith(`${ASSETS_PATH}${plugin}/`) && !/\.\.|%/.test(path))) return url;
    const full = path === prefix || path.startsWith(`${prefix}/`) ? path : `${prefix}${path === '/' ? '' : path}`;
    return this.shared.ownHostPaths.has(plugin, full) ? full + (mark < 0 ? '' : url.slice(mark)) : null;
  }
}

function findHostPage(hosts: readonly MountedHosts[], name: string): HostPage | null | Promise<HostPage | null> {
  for (const [i, { plugin, hosts: own }] of hosts.entries()) {
    const found = own.findPage(name);
    if (found instanceof Promise)
      return found.then((prefix) => (prefix === null ? findHostPage(hosts.slice(i + 1), name) : { plugin, prefix }));
    if (found !== null) return { plugin, prefix: found };
  }
  return null;
}
