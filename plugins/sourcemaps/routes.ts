/**
 * Routes of `sentry-cli` and the bundler plugins (contract 21, Beyond the specification: what
 * JavaScript and releases need). Field names are Sentry's.
 */
import joi from 'joi';
import { named, Reply, whole, type HttpRequest, type RouteSpec } from '../../kernel/contract.js';
import { invalid } from '../../kernel/errors.js';
import { MOST_PIECES, PIECE_BYTES } from './model.js';
import { formOf } from './multipart.js';
import { toolReleaseRoutes, type ToolReleaseParts } from './tool-releases.js';
import { at, BASE, callerOf, getProjectHints, organization, shared, slug, version } from './tool-paths.js';
import type { AssembleRequest, MapUploads, ReleaseFile } from './uploads.js';

const PIECES_PER_CALL = 16;
const FORM_BYTES = PIECES_PER_CALL * PIECE_BYTES + 64 * 1024;
const FILE_BYTES = 32 * 1024 * 1024;
const SHA1 = /^[0-9a-f]{40}$/;

const text = joi.string().min(1).max(200).allow(null, '').empty([null, '']).default(null);

const chunkOptions = named(
  'ChunkUploadOptions',
  whole({
    url: joi.string(),
    chunkSize: joi.number().integer(),
    chunksPerRequest: joi.number().integer(),
    maxFileSize: joi.number().integer(),
    maxRequestSize: joi.number().integer(),
    concurrency: joi.number().integer(),
    hashAlgorithm: joi.string(),
    compression: joi.array().items(joi.string()),
    accept: joi.array().items(joi.string()),
  }),
);

const assembleBody = joi.object({
  checksum: joi.string().pattern(SHA1).required().description('SHA-1 of the bundle'),
  chunks: joi
    .array()
    .items(joi.string().pattern(SHA1))
    .min(1)
    .max(MOST_PIECES)
    .required()
    .description('SHA-1 of each piece, in their order'),
  projects: joi.array().items(joi.string().max(200)).max(20).default([]).description('None: that of the token'),
  version: text.description('The release'),
  dist: text,
});

const assembleAnswer = named(
  'AssembleAnswer',
  whole({
    state: joi.string().valid('not_found', 'assembling', 'ok', 'error'),
    missingChunks: joi.array().items(joi.string()).description('To be sent'),
    detail: joi.string().allow(null).description('Why it cannot be used'),
  }),
);

const fileAnswer = named(
  'ReleaseFile',
  whole({
    id: joi.string(),
    name: joi.string(),
    sha1: joi.string(),
    dist: joi.string().allow(null),
    size: joi.number().integer(),
    headers: joi.object(),
  }),
);

export const routes = (
  uploads: MapUploads,
  about: { url(): string } & Omit<ToolReleaseParts, 'uploads'>,
): RouteSpec[] => [
  ...chunkRoutes(uploads, () => about.url()),
  ...toolReleaseRoutes({ uploads, ...about }),
  ...fileRoutes(uploads),
];

function chunkRoutes(uploads: MapUploads, url: () => string): RouteSpec[] {
  const params = joi.object({ org: organization });
  return [
    {
      ...shared,
      ...at('/organizations/{org}/chunk-upload'),
      method: 'GET',
      operationId: 'getChunkUploadOptions',
      summary: 'How sentry-cli uploads source maps',
      input: { params },
      output: chunkOptions,
      handle: ({ params: { org = '' } }) => ({
        url: `${url()}${BASE}/organizations/${encodeURIComponent(org)}/chunk-upload/`,
        chunkSize: PIECE_BYTES,
        chunksPerRequest: PIECES_PER_CALL,
        maxFileSize: MOST_PIECES * PIECE_BYTES,
        maxRequestSize: PIECES_PER_CALL * PIECE_BYTES,
        concurrency: 2,
        hashAlgorithm: 'sha1',
        compression: [],
        accept: ['release_files', 'sources', 'artifact_bundles', 'artifact_bundles_v2'],
      }),
    },
    {
      ...shared,
      ...at('/organizations/{org}/chunk-upload'),
      method: 'POST',
      operationId: 'uploadChunks',
      summary: 'Take pieces of a bundle of source maps',
      description: `Parts \`file\` of at most ${PIECE_BYTES} bytes, each named by the SHA-1 of its content. Pieces of no bundle leave after a day.`,
      input: { params, mediaType: 'multipart/form-data' },
      output: joi.object({}),
      limits: { payload: 'raw', bytes: FORM_BYTES, space: true },
      handle: async (request) => {
        const form = await formOf(request.body as Buffer, request.headers['content-type']);
        const pieces = await Promise.all(
          form.getAll('file').map(async (part) => {
            if (typeof part === 'string') throw invalid({ file: 'must have the SHA-1 of its content for a file name' });
            return { name: part.name, bytes: new Uint8Array(await part.arrayBuffer()) };
          }),
        );
        if (pieces.length === 0) throw invalid({ file: 'is required' });
        await uploads.keep(callerOf(request), pieces);
        return {};
      },
    },
    {
      ...shared,
      ...at('/organizations/{org}/artifactbundle/assemble'),
      method: 'POST',
      operationId: 'assembleArtifactBundle',
      summary: 'Make a bundle of the pieces that were sent',
      description:
        'Its maps rewrite the frames of minified scripts from then on: by debug id, else by release and address. `not_found`: ' +
        'send `missingChunks`, and ask again.',
      input: { params, body: assembleBody },
      output: assembleAnswer,
      handle: (request) => uploads.assemble(callerOf(request), request.body as AssembleRequest),
    },
  ];
}

function fileRoutes(uploads: MapUploads): RouteSpec[] {
  const ofRelease = joi.object({ org: organization, version });
  const ofProject = ofRelease.keys({ project: slug });
  const put = {
    ...shared,
    method: 'POST',
    summary: 'Take a script or a source map of a release, as older tools send them',
    description:
      'Parts: `file`; `name`, its address with `~` for scheme and host; `dist`; `header`, where `Sourcemap: <address>` names ' +
      'the map of a script; `project`, where neither path nor token names it.',
    output: fileAnswer,
    status: 201,
    errors: [...shared.errors, 'payload_too_large'],
    limits: { payload: 'raw', bytes: FILE_BYTES, space: true },
    handle: (request: HttpRequest) => putFile(uploads, request),
  } satisfies Partial<RouteSpec>;
  const list = {
    ...shared,
    method: 'GET',
    summary: 'The scripts and source maps of a release',
    output: joi.array().items(fileAnswer),
    handle: async (request: HttpRequest) => {
      const { project, version: release = '' } = request.params;
      const named = project === undefined ? [] : [project];
      const files = await uploads.filesOf(callerOf(request), named, release, getProjectHints(request));
      return files.map(fileView);
    },
  } satisfies Partial<RouteSpec>;
  const multipart = 'multipart/form-data';
  return [
    {
      ...put,
      ...at('/projects/{org}/{project}/releases/{version}/files'),
      operationId: 'uploadReleaseFile',
      input: { params: ofProject, mediaType: multipart },
    },
    {
      ...put,
      ...at('/organizations/{org}/releases/{version}/files'),
      operationId: 'uploadReleaseFileOfToken',
      input: { params: ofRelease, mediaType: multipart },
    },
    {
      ...list,
      ...at('/projects/{org}/{project}/releases/{version}/files'),
      operationId: 'listReleaseFiles',
      input: { params: ofProject },
    },
    {
      ...list,
      ...at('/organizations/{org}/releases/{version}/files'),
      operationId: 'listReleaseFilesOfToken',
      input: { params: ofRelease },
    },
  ];
}

const fileView = ({ sha1, name, dist, size }: ReleaseFile): object => ({
  id: sha1,
  name,
  sha1,
  dist,
  size,
  headers: {},
});

async function putFile(uploads: MapUploads, request: HttpRequest): Promise<Reply> {
  const { version: release = '' } = request.params;
  const form = await formOf(request.body as Buffer, request.headers['content-type']);
  const file = form.get('file');
  if (file === null || typeof file === 'string') throw invalid({ file: 'is required, with a file name' });
  const name = worded(form.get('name')) ?? `~/${file.name}`;
  if (name.length > 1_000) throw invalid({ name: 'must have at most 1000 characters' });
  const dist = worded(form.get('dist'));
  const bytes = Buffer.from(await file.arrayBuffer());
  const mapUrl =
    form
      .getAll('header')
      .map(mapHeader)
      .find((url) => url !== null) ?? null;
  const project = request.params['project'] ?? worded(form.get('project'));
  const given = { project, hints: getProjectHints(request), release, dist, url: name, mapUrl, bytes };
  const { sha1 } = await uploads.file(callerOf(request), given);
  return new Reply(201, fileView({ sha1, name, dist, size: bytes.length }));
}

const worded = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

const mapHeader = (header: unknown): string | null =>
  typeof header === 'string' ? (/^(?:x-)?sourcemap:\s*(\S{1,900})\s*$/i.exec(header)?.[1] ?? null) : null;
