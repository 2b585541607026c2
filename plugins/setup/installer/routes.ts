/** `/installer/*` (contract 60, installer): public, for machines without credentials. */
import joi from 'joi';
import { Reply, text, type HttpRequest, type RouteSpec } from '../../../kernel/contract/index.js';
import { notFound, ServiceError } from '../../../kernel/errors.js';
import { FileAnswer, type Answer } from '../../../ports/http/index.js';
import type { InstallerEncoding, InstallerFile, Installers } from '../../../ports/installers.js';
import { BUILD_COMMAND, renderInstallSh } from './install-sh.js';
import { renderInstallPs1 } from './install-ps1.js';

export function parseAcceptedEncodings(header: string | undefined): InstallerEncoding[] {
  const weightByEncoding = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',').slice(0, 20)) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weightByEncoding.set(name, weight === undefined ? 1 : Number(weight));
  }
  return (['br', 'gzip'] as const).filter((name) => (weightByEncoding.get(name) ?? weightByEncoding.get('*') ?? 0) > 0);
}

const createManifestReply = (manifest: object): Reply =>
  new Reply(200, JSON.stringify(manifest, null, 2)).header('content-type', 'application/json; charset=utf-8');

async function openAgent(installers: Installers, file: InstallerFile, request: HttpRequest): Promise<Answer> {
  for (const encoding of [...parseAcceptedEncodings(request.headers['accept-encoding']), null]) {
    const stored = await installers.open(file.name, encoding);
    if (stored === null) continue;
    const answer = new FileAnswer({
      size: stored.size,
      etag: `"${stored.tag}${encoding === null ? '' : `-${encoding}`}"`,
      modifiedAt: stored.modifiedAt,
      contentType: 'application/octet-stream',
      open: (start, end, allocateBuffer) => stored.read(start, end, allocateBuffer),
    });
    answer.header('vary', 'accept-encoding');
    return encoding === null ? answer : answer.header('content-encoding', encoding);
  }
  throw notFound(`file ${file.name}: build the update agents with "${BUILD_COMMAND}" and restart the service`);
}

const createNotBuiltError = (): ServiceError =>
  new ServiceError('not_ready', 'The update agents are being prepared; try again in a few seconds.', {
    headers: { 'retry-after': '5' },
  });

/** @param baseUrl `server.base_url`, read for each download */
export function buildInstallerRoutes(installers: Installers, baseUrl: () => string): RouteSpec[] {
  const facts = async () => ({
    url: baseUrl().replace(/\/$/, ''),
    files: (installers.getPendingManifest() ?? (await installers.readManifest()))?.files ?? [],
  });
  const serve = async (request: HttpRequest): Promise<Answer> => {
    const { name = '' } = request.params;
    if (name === 'install.sh')
      return text(renderInstallSh(await facts()), 'text/x-shellscript; charset=utf-8').header(
        'cache-control',
        'no-cache',
      );
    if (name === 'install.ps1') return text(renderInstallPs1(await facts())).header('cache-control', 'no-cache');
    if (installers.getPendingManifest() !== null) throw createNotBuiltError();
    const manifest = await installers.readManifest();
    if (manifest === null) {
      throw notFound(`installer here: build the update agents with "${BUILD_COMMAND}" and restart the service`);
    }
    if (name === 'installer.json') return createManifestReply(manifest).header('cache-control', 'no-cache');
    const file = manifest.files.find((one) => one.name === name);
    if (file === undefined) throw notFound(`installer file ${name}`);
    return openAgent(installers, file, request);
  };
  return [
    {
      method: 'GET',
      path: '/installer/{name}',
      summary: 'Get the update agent, or a script that installs it',
      access: 'public',
      hidden: true,
      input: { params: joi.object({ name: joi.string().max(100).required() }) },
      handle: serve,
    },
  ];
}
