/**
 * A small release server for companion tests: contract 40's responses with a real RSA key, which a
 * test can override.
 */
import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { formatManifest } from '../../lib/formats/manifest.js';
import type { Platform } from '../../lib/formats/platform.js';
import { compareVersions } from '../../lib/versions.js';
import { buildTar } from './archives.js';

export interface SourceFile {
  path: string;
  content: string | Buffer;
  mode?: '0755' | '0644';
}

export interface PublishInput {
  version: string;
  files: SourceFile[];
  product?: string;
  channel?: string;
  platform?: Platform;
  minVersion?: string;
  entry?: string;
  preserve?: string[];
  setup?: Record<string, unknown>;
  signed?: boolean;
  archive?: Buffer;
}

export interface TestRelease extends PublishInput {
  product: string;
  channel: string;
  platform: Platform;
  manifest: string;
  signature: string | null;
  archive: Buffer;
  url: string;
}

export const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

export interface SigningKeys {
  privateKey: KeyObject;
  publicKey: KeyObject;
  pem: string;
  spki: Buffer;
  id: string;
}

export function createKeys(bits = 2048): SigningKeys {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return { privateKey, publicKey, pem, spki, id: sha256(spki).slice(0, 16) };
}

export const sign = ({ privateKey }: SigningKeys, bytes: string | Buffer): string =>
  createSign('RSA-SHA256').update(bytes).sign(privateKey, 'base64');

export const buildArchive = (files: readonly SourceFile[]): Buffer =>
  gzipSync(
    buildTar(
      ...files.map(({ path, content, mode }) => ({ name: path, content, mode: Number.parseInt(mode ?? '0644', 8) })),
    ),
    { level: 1 },
  );

type Body = Record<string, unknown>;

export interface ResponseOverrides {
  /** Replaces the response of check; the release is nested in `release`. */
  check?: (body: Body & { release: Body | null }) => unknown;
  latest?: (body: Body) => unknown;
  pubkey?: (body: Body) => unknown;
  statement?: (statement: Body) => unknown;
  freshness?: (body: Body) => unknown;
  /** Handles the whole request; returns false for the default response. */
  request?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

const getManifestUrl = ({ url }: TestRelease): string => url.replace(/[^/]+$/, 'manifest.json');

export class ReleaseServer {
  readonly releases: TestRelease[] = [];
  keys: SigningKeys | null;
  predecessors: { key_id: string; public_key: string; signature: string }[] = [];
  requireSigned = false;
  manifestsApart = false;
  /** Serves single files, and names their address in the responses. */
  servesFiles = false;
  /** `authorization` values that may download packages; null allows all. */
  allowed: string[] | null = null;
  lies: ResponseOverrides = {};
  readonly asked: { line: string; headers: IncomingMessage['headers'] }[] = [];
  url = '';
  #server: Server | null = null;

  constructor(keys: SigningKeys | null) {
    this.keys = keys;
  }

  async start(tls?: { key: string; cert: string }): Promise<string> {
    const handle = (request: IncomingMessage, response: ServerResponse): void => this.#handleRequest(request, response);
    this.#server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    this.url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
    return this.url;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise<void>((resolve) => this.#server?.close(() => resolve()) ?? resolve());
  }

  publish(input: PublishInput): TestRelease {
    const { version, product = 'shop', channel = 'stable', platform = 'any', minVersion } = input;
    const archive = input.archive ?? buildArchive(input.files);
    const manifest = formatManifest({
      product,
      version,
      channel,
      platform,
      published_at: '2026-11-20T08:15:30.123Z',
      package: { sha256: sha256(archive), size: archive.length },
      files: input.files.map(({ path, content, mode }) => ({
        path,
        size: Buffer.byteLength(content),
        sha256: sha256(Buffer.from(content)),
        mode: mode ?? '0644',
      })),
      preserve_patterns: input.preserve ?? [],
      min_version: minVersion ?? null,
      setup: input.setup ?? null,
      entry: input.entry ?? null,
      runtime: null,
    });
    const signature = this.keys === null || input.signed === false ? null : sign(this.keys, manifest);
    const url = `/releases/${product}/${channel}/${version}/${platform}/package.tar.gz`;
    const release = { ...input, product, channel, platform, manifest, signature, archive, url };
    const at = this.releases.findIndex((other) => other.url === url);
    if (at < 0) this.releases.push(release);
    else this.releases[at] = release;
    return release;
  }

  /** Signs everything with new keys, and adds them to the key chain. */
  rotateKeys(next: SigningKeys): void {
    const before = this.keys;
    if (before === null) throw new Error('nothing to rotate');
    this.predecessors.unshift({ key_id: before.id, public_key: before.pem, signature: sign(before, next.spki) });
    this.keys = next;
    for (const release of this.releases) release.signature = sign(next, release.manifest);
  }

  #listCandidates(product: string, channel: string, platform: string): TestRelease[] {
    const fits = this.releases.filter(
      (release) =>
        release.product === product && release.channel === channel && [platform, 'any'].includes(release.platform),
    );
    return fits.toSorted((a, b) => compareVersions(b.version, a.version));
  }

  #buildCheckResponse(query: URLSearchParams): Body & { release: Body | null } {
    const of = (name: string, other: string): string => query.get(name) ?? other;
    const [product, version] = [of('product', ''), of('version', '0')];
    const [channel, platform] = [of('channel', 'stable'), of('platform', 'any')];
    const all = this.#listCandidates(product, channel, platform);
    const reachable = all.find(
      ({ minVersion }) => minVersion === undefined || compareVersions(minVersion, version) <= 0,
    );
    const found = reachable !== undefined && compareVersions(reachable.version, version) > 0 ? reachable : null;
    return {
      status: 'success',
      update_available: found !== null,
      require_signed: this.requireSigned,
      product,
      channel,
      platform,
      current_version: version,
      latest_version: all[0]?.version ?? null,
      current_withdrawn: false,
      signed: typeof found?.signature === 'string',
      release: found && this.#toReleaseBody(found),
    };
  }

  #toReleaseBody(found: TestRelease): Body {
    return {
      version: found.version,
      channel: found.channel,
      platform: found.platform,
      published_at: '2026-11-20T08:15:30.123Z',
      release_notes: 'notes',
      mandatory: false,
      package_url: found.url,
      ...(this.servesFiles ? { files_url: found.url.replace(/[^/]+$/, 'files') } : {}),
      package_size: found.archive.length,
      package_sha256: sha256(found.archive),
      manifest_json: this.manifestsApart ? null : found.manifest,
      manifest_url: this.manifestsApart ? getManifestUrl(found) : null,
      manifest_sha256: sha256(found.manifest),
      manifest_signature: found.signature,
      key_id: found.signature === null ? null : (this.keys?.id ?? null),
    };
  }

  buildStatement(product: string, channel: string): Body {
    const platforms = ['any', 'win-x64', 'linux-x64', 'linux-arm64'];
    const latest = platforms.map((platform) => {
      const [newest] = this.#listCandidates(product, channel, platform);
      return [platform, newest ? { version: newest.version, manifest_sha256: sha256(newest.manifest) } : null];
    });
    return {
      schema: 1,
      product,
      channel,
      latest: Object.fromEntries(latest),
      steps: this.releases.flatMap(({ version, minVersion }) =>
        minVersion === undefined ? [] : [{ version, min_version: minVersion }],
      ),
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 7 * 86_400_000).toISOString(),
    };
  }

  #handleRequest(request: IncomingMessage, response: ServerResponse): void {
    this.asked.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    if (this.lies.request?.(request, response) === true) return;
    const url = new URL(request.url ?? '/', 'http://server');
    const json = (body: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const missing = (): void => json({ status: 'error', error: { code: 'not_found', message: 'not found' } }, 404);
    const keys = this.keys;
    if (url.pathname.startsWith('/releases/')) return this.#sendFile(request, response, url.pathname);
    switch (url.pathname) {
      case '/api/updateservice/v1/check': {
        if (!this.releases.some(({ product }) => product === url.searchParams.get('product'))) return missing();
        const body = this.#buildCheckResponse(url.searchParams);
        return json(this.lies.check?.(body) ?? body);
      }
      case '/api/updateservice/v1/latest': {
        const of = (name: string): string => url.searchParams.get(name) ?? '';
        const [newest] = this.#listCandidates(of('product'), of('channel'), of('platform'));
        const body = { status: 'success', latest: newest === undefined ? null : this.#toReleaseBody(newest) };
        return json(this.lies.latest?.(body) ?? body);
      }
      case '/api/updateservice/v1/pubkey': {
        if (keys === null) return missing();
        const body = {
          status: 'success',
          algorithm: 'RSA-SHA256',
          key_id: keys.id,
          public_key: keys.pem,
          bits: 2048,
          predecessors: this.predecessors,
        };
        return json(this.lies.pubkey?.(body) ?? body);
      }
      case '/api/updateservice/v1/freshness': {
        if (keys === null) return missing();
        const said = this.buildStatement(url.searchParams.get('product') ?? '', url.searchParams.get('channel') ?? '');
        const statement = JSON.stringify(this.lies.statement?.(said) ?? said);
        const body = { status: 'success', statement, signature: sign(keys, statement), key_id: keys.id };
        return json(this.lies.freshness?.(body) ?? body);
      }
      default:
        missing();
    }
  }

  #sendFile(request: IncomingMessage, response: ServerResponse, path: string): void {
    if (this.allowed !== null && !this.allowed.includes(request.headers.authorization ?? '')) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="releases"' }).end('no');
      return;
    }
    const manifest = this.releases.find((one) => getManifestUrl(one) === path)?.manifest;
    if (manifest !== undefined) {
      response.writeHead(200).end(manifest);
      return;
    }
    const content = this.releases.find(({ url }) => url === path)?.archive ?? this.#findFile(path);
    if (content === undefined) {
      response.writeHead(404).end();
      return;
    }
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const { length } = content;
    if (from >= length) response.writeHead(416).end();
    else if (from > 0)
      response.writeHead(206, { 'content-range': `bytes ${from}-${length - 1}/${length}` }).end(content.subarray(from));
    else response.writeHead(200, { 'content-length': length }).end(content);
  }

  #findFile(path: string): Buffer | undefined {
    const [folder = '', hash] = path.split('/files/');
    const release = this.servesFiles ? this.releases.find(({ url }) => url.startsWith(`${folder}/`)) : undefined;
    const file = release?.files.find(({ content }) => sha256(Buffer.from(content)) === hash);
    return file === undefined ? undefined : Buffer.from(file.content);
  }
}
