import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { OutboundError, type EgressPolicy } from '../../../ports/outbound.js';
import type {
  ConnectResult,
  ConnectRequest,
  ProtocolProbe,
  EchoRequest,
  LookupRequest,
  NetworkProbe,
} from '../../../ports/network-probe.js';
import { stripBrackets } from '../../../lib/host.js';
import { Deadlines } from '../deadlines.js';
import { isPublicAddress, findAddressBlock, checkUrl } from '../egress.js';
import { readPeerCertificate } from '../http-exchange.js';
import { HostResolver, parseDnsServer } from '../host-resolver.js';
import { requireAllowedResolver, resolveChecked } from '../resolve-checked.js';
import { findAuthorityFault } from '../tls-trust.js';
import { sendEcho } from './echo.js';
import { databasePings } from './protocols/databases.js';
import { checkGrpcHealth } from './protocols/grpc.js';
import { startTlsDialogues } from './protocols/starttls.js';
import { openWebSocket } from './protocols/websocket.js';
import { RecordResolver } from './dns-records.js';
import { openSocket, startTlsSession } from './sockets.js';
import { ProtocolConnection } from './protocols/protocol-connection.js';

export interface NodeReachOptions {
  /** Resolves a name. Default: hosts file and DNS. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
  ca?: string;
  /** DNS servers of `lookup`, `address:port`. Default: the system's. */
  servers?: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** Timeout of the echo to this host that shows whether echoes can be sent. */
const ECHO_CHECK_TIMEOUT_MS = 1_000;
const MAX_CONCURRENT_ECHOES = 4;

export class NodeReach implements NetworkProbe {
  readonly #resolve: (hostname: string) => Promise<LookupAddress[]>;
  readonly #records: RecordResolver;
  #echoing = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly options: NodeReachOptions = {}) {
    const names = new HostResolver();
    this.#resolve = options.resolve ?? ((hostname) => names.resolve(hostname));
    this.#records = new RecordResolver(options.servers);
  }

  /**
   * Normalizes the host as URLs do, so that `0xa9fea9fe` and `169.254.43518` are checked as the
   * addresses they mean.
   */
  checkHost(host: string, policy: EgressPolicy): string | null {
    const bare = stripBrackets(host);
    const verdict = checkUrl(`http://${bare.includes(':') ? `[${bare}]` : bare}/`, policy);
    return verdict instanceof URL || verdict.fault !== 'blocked' ? null : verdict.reason;
  }

  checkResolver(server: string, policy: EgressPolicy): string | null {
    return findAddressBlock(parseDnsServer(server).address, policy);
  }

  findAuthorityFault(pem: string): string | null {
    return findAuthorityFault(pem);
  }

  connect(request: ConnectRequest): Promise<ConnectResult> {
    return runTimed(request.timeoutMs ?? DEFAULT_TIMEOUT_MS, async (clock) => {
      const addresses = await clock.within(resolveChecked(request, this.#resolve));
      let socket: Socket = await openSocket(addresses, request.port, clock);
      try {
        const address = socket.remoteAddress ?? '';
        if (request.tls === true) socket = await this.#secure(socket, request, clock);
        const untrusted = getTrustError(socket);
        const isTrusted = untrusted === null || request.trust?.insecure === true;
        const dialogueResult =
          request.dialogue === undefined || !isTrusted
            ? null
            : await runDialogue(socket, request, request.dialogue, clock);
        return {
          address,
          certificate: readPeerCertificate(socket),
          untrusted,
          said: dialogueResult,
          public: isPublicAddress(address),
        };
      } finally {
        socket.destroy();
      }
    });
  }

  async #secure(socket: Socket, request: ConnectRequest, clock: Deadlines): Promise<TLSSocket> {
    const { starttls, host, tlsHost = host, trust, dialogue } = request;
    if (starttls !== undefined) {
      const wire = new ProtocolConnection(socket, clock);
      await startTlsDialogues[starttls](wire);
      wire.release();
    }
    const ca = [this.options.ca, trust?.ca].filter((one) => one !== undefined);
    return startTlsSession(socket, { host: tlsHost, ca, ...(dialogue?.kind === 'grpc' && { alpn: 'h2' }) }, clock);
  }

  lookup(request: LookupRequest): Promise<{ records: string[]; duration_ms: number }> {
    const { name, type, resolver, policy, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    return runTimed(timeoutMs, async (clock) => {
      if (resolver !== undefined) requireAllowedResolver(resolver, policy);
      return { records: await clock.within(this.#records.lookup(name, type, resolver)) };
    });
  }

  sendEcho(request: EchoRequest): Promise<{ address: string; duration_ms: number }> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    return runTimed(timeoutMs, async (clock) => {
      const addresses = await clock.within(resolveChecked(request, this.#resolve));
      await this.#acquireEchoSlot(clock);
      try {
        return await sendEchoToAny(addresses, timeoutMs, clock.remainingMs());
      } finally {
        this.#releaseEchoSlot();
      }
    });
  }

  async findEchoFault(): Promise<string | null> {
    try {
      await sendEcho('127.0.0.1', ECHO_CHECK_TIMEOUT_MS);
      return null;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return error.fault === 'unsupported' ? error.message : null;
    }
  }

  /** @throws OutboundError on timeout */
  async #acquireEchoSlot(clock: Deadlines): Promise<void> {
    if (this.#echoing < MAX_CONCURRENT_ECHOES) {
      this.#echoing += 1;
      return;
    }
    let wake = (): void => undefined;
    const turn = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.push(wake);
    try {
      await clock.within(turn);
    } catch (error) {
      const at = this.#waiting.indexOf(wake);
      if (at >= 0) this.#waiting.splice(at, 1);
      else this.#releaseEchoSlot();
      throw error;
    }
  }

  #releaseEchoSlot(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#echoing -= 1;
    else next();
  }
}

/**
 * Tries the addresses in order, each for its share of the remaining time.
 * @throws OutboundError of the first
 */
async function sendEchoToAny(
  addresses: readonly LookupAddress[],
  timeoutMs: number,
  remainingMs: number,
): Promise<{ address: string; duration_ms?: number }> {
  let fault: OutboundError | null = null;
  for (const { address } of addresses) {
    try {
      const duration_ms = await sendEcho(address, Math.max(1, Math.ceil(remainingMs / addresses.length)), timeoutMs);
      return { address, ...(duration_ms !== null && { duration_ms }) };
    } catch (error) {
      if (!(error instanceof OutboundError) || error.fault === 'unsupported') throw error;
      fault ??= error;
    }
  }
  throw fault ?? new OutboundError('dns', 'it has no address');
}

const getTrustError = (socket: Socket): string | null =>
  socket instanceof TLSSocket && !socket.authorized
    ? String(socket.authorizationError ?? 'not trusted').replace(/^Error: /, '')
    : null;

/** @throws OutboundError */
async function runDialogue(
  socket: Socket,
  { host, port }: ConnectRequest,
  dialogue: ProtocolProbe,
  clock: Deadlines,
): Promise<string> {
  if (dialogue.kind === 'grpc') {
    await checkGrpcHealth(socket, `${host.includes(':') ? `[${host}]` : host}:${port}`, dialogue.service, clock);
    return 'SERVING';
  }
  const wire = new ProtocolConnection(socket, clock);
  if (dialogue.kind !== 'websocket') return databasePings[dialogue.kind](wire);
  await openWebSocket(wire, dialogue.url, dialogue.host, dialogue.headers);
  return 'it takes WebSockets';
}

async function runTimed<T extends object>(
  timeoutMs: number,
  work: (clock: Deadlines) => Promise<T>,
): Promise<T & { duration_ms: number }> {
  const started = performance.now();
  const clock = new Deadlines(timeoutMs, timeoutMs);
  try {
    const done = await work(clock);
    return { duration_ms: Math.round(performance.now() - started), ...done };
  } finally {
    clock.stop();
  }
}
