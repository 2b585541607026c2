/**
 * Hosts that show one shared page and nothing else. Such a host keeps the paths of its page, so that one set of links
 * is right under both addresses, and has `/` and the names below it besides.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { MountedHosts } from '../../ports/http.js';
import { ASSETS } from './pages/assets.js';
import type { PageServices } from './pages/visitor.js';
import { refuse } from './transport/listener.js';
import { NOT_FOUND, textOf } from './wire/failure.js';

/** The script that shows times by the reader's clock, which every public page has. */
const TIMES = `${ASSETS}times.js`;

/** Paths of probes. */
const PROBES: ReadonlySet<string> = new Set(['/api/health/live', '/api/health/ready']);

/** The page that a host shows. */
interface Place {
  plugin: string;
  prefix: string;
}

export class Front {
  /** The name in `server.base_url`: it shows everything, and nobody is asked about it. */
  readonly #ownHost: string;

  constructor(
    private readonly hosts: readonly MountedHosts[],
    private readonly shared: PageServices,
    baseUrl: string,
  ) {
    this.#ownHost = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  }

  /** Answers a request, now or later. False: hapi shall answer. */
  answer(req: IncomingMessage, res: ServerResponse, routed: RequestListener): boolean {
    // Whoever watches the service is answered before a host is looked up.
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

  /** The name of a host that may be somebody's; null: an address, or the service's own. */
  #nameOf(host: string | undefined): string | null {
    const name = (host ?? '').replace(/:\d*$/, '').toLowerCase();
    return name === this.#ownHost || !name.includes('.') || isIP(name) !== 0 ? null : name;
  }

  /** Sends the request to the place that its host shows. True: there is nothing, and it was answered. */
  #refuses(place: Place | null, req: IncomingMessage, res: ServerResponse): boolean {
    if (place === null) return false;
    const url = this.#urlAt(place, req.url ?? '');
    if (url === null) refuse(req, res, NOT_FOUND, this.shared.ids);
    else req.url = url;
    return url === null;
  }

  /** The address below this place; null: it has nothing of this name. */
  #urlAt({ plugin, prefix }: Place, url: string): string | null {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    if (path === TIMES || (path.startsWith(`${ASSETS}${plugin}/`) && !/\.\.|%/.test(path))) return url;
    const full = path === prefix || path.startsWith(`${prefix}/`) ? path : `${prefix}${path === '/' ? '' : path}`;
    return this.shared.ownHostPaths.has(plugin, full) ? full + (mark < 0 ? '' : url.slice(mark)) : null;
  }
}

/** The first that knows the host. */
function placeOf(hosts: readonly MountedHosts[], name: string): Place | null | Promise<Place | null> {
  for (const [i, { plugin, hosts: own }] of hosts.entries()) {
    const found = own.find(name);
    if (found instanceof Promise)
      return found.then((prefix) => (prefix === null ? placeOf(hosts.slice(i + 1), name) : { plugin, prefix }));
    if (found !== null) return { plugin, prefix: found };
  }
  return null;
}
