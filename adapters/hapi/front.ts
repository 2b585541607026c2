/**
 * Custom hosts that show a single shared page. The page keeps its usual paths, so that links work
 * under both addresses, and is also served at `/`.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { MountedHosts } from '../../ports/http.js';
import { ASSETS } from './pages/assets.js';
import type { PageServices } from './pages/visitor.js';
import { refuse } from './transport/listener.js';
import { NOT_FOUND, textOf } from './wire/failure.js';

const TIMES = `${ASSETS}times.js`;

const PROBES: ReadonlySet<string> = new Set(['/api/health/live', '/api/health/ready']);

interface Place {
  plugin: string;
  prefix: string;
}

export class Front {
  /** The host of `server.base_url` serves everything, without a lookup. */
  readonly #ownHost: string;

  constructor(
    private readonly hosts: readonly MountedHosts[],
    private readonly shared: PageServices,
    baseUrl: string,
  ) {
    this.#ownHost = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  }

  /** Handles a request, possibly asynchronously. Returns false when hapi must handle it. */
  answer(req: IncomingMessage, res: ServerResponse, routed: RequestListener): boolean {
    if (PROBES.has(req.url ?? '')) return false;
    const name = this.hosts.length === 0 ? null : this.#nameOf(req.headers.host);
    if (name === null) return false;
    const place = placeOf(this.hosts, name);
    if (!(place instanceof Promise)) return this.#refuses(place, req, res);
    place
      .then((found) => this.#refuses(found, req, res) || routed(req, res))
      .catch((err: unknown) => {
        this.shared.log.error({ err }, `a host could not be looked up: ${textOf(err)}`);
        res.destroy();
      });
    return true;
  }

  /**
   * Returns the name of a possible custom host; null for an IP address or the service's own host.
   */
  #nameOf(host: string | undefined): string | null {
    const name = (host ?? '').replace(/:\d*$/, '').toLowerCase();
    return name === this.#ownHost || !name.includes('.') || isIP(name) !== 0 ? null : name;
  }

  /**
   * Rewrites the request to the page of its host. Returns true when nothing matches and the request
   * has been rejected.
   */
  #refuses(place: Place | null, req: IncomingMessage, res: ServerResponse): boolean {
    if (place === null) return false;
    const url = this.#urlAt(place, req.url ?? '');
    if (url === null) refuse(req, res, NOT_FOUND, this.shared.ids);
    else req.url = url;
    return url === null;
  }

  #urlAt({ plugin, prefix }: Place, url: string): string | null {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    if (path === TIMES || (path.startsWith(`${ASSETS}${plugin}/`) && !/\.\.|%/.test(path))) return url;
    const full = path === prefix || path.startsWith(`${prefix}/`) ? path : `${prefix}${path === '/' ? '' : path}`;
    return this.shared.ownHostPaths.has(plugin, full) ? full + (mark < 0 ? '' : url.slice(mark)) : null;
  }
}

function placeOf(hosts: readonly MountedHosts[], name: string): Place | null | Promise<Place | null> {
  for (const [i, { plugin, hosts: own }] of hosts.entries()) {
    const found = own.find(name);
    if (found instanceof Promise)
      return found.then((prefix) => (prefix === null ? placeOf(hosts.slice(i + 1), name) : { plugin, prefix }));
    if (found !== null) return { plugin, prefix: found };
  }
  return null;
}
