/**
 * What `sentry-cli` and the bundler plugins call (contract 21, Beyond the specification: what JavaScript and releases
 * need). Names of fields are Sentry's.
 */
import joi from 'joi';
import { named, Reply, whole, type HttpRequest, type RouteSpec } from '../../kernel/contract.js';
import { invalid, ServiceError } from '../../kernel/errors.js';
import { MOST_PIECES, PIECE_BYTES } from './model.js';
import { formOf } from './multipart.js';
import type { AssembleRequest, MapUploader, MapUploads } from './uploads.js';

const BASE = '/api/0';
const PIECES_PER_CALL = 16;
/** Boundaries and part headers. */
const FORM_BYTES = PIECES_PER_CALL * PIECE_BYTES + 64 * 1024;
/** Of a file of a release. */
const FILE_BYTES = 32 * 1024 * 1024;
const SHA1 = /^[0-9a-f]{40}$/;

const slug = joi.string().min(1).max(200).required();
const organization = slug.description('Any: this service has no organizations');
const version = slug.description('The release, as the tool names it');
const text = joi.string().min(1).max(200).allow(null, '').empty([null, '']).default(null);

const shared = {
  tag: '0',
  access: { scope: 'bugtracker:manage' },
  plain: true,
  errors: ['unknown_project', 'validation_failed'],
} satisfies Partial<RouteSpec>;

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

/** What tools read of a release. Releases of this service are published: these are none of them. */
const releaseAnswer = named(
  'ToolRelease',
  whole({
    version: joi.string(),
    dateCreated: joi.string().isoDate(),
    dateReleased: joi.string().isoDate().allow(null),
    projects: joi.array().items(joi.object()),
  }),
);
const releaseBody = joi.object({ version: joi.string().max(200) }).unknown(true);
const fileAnswer = named(
  'ReleaseFile',
  whole({ id: joi.string(), name: joi.string(), sha1: joi.string(), dist: joi.string().allow(null) }),
);

const callerOf = (request: HttpRequest): MapUploader => {
  const { principal } = request;
  if (principal.kind === 'token') return { principal, reauthorize: () => request.reauthorize() };
  throw new ServiceError('unauthorized', 'This needs a token.');
};

/** With and without the slash at its end: tools write it, people leave it out. */
const at = (path: string): { path: string; aliases: string[] } => ({
  path: `${BASE}${path}/`,
  aliases: [`${BASE}${path}`],
});

/** @param about base URL and time */
export const routes = (uploads: MapUploads, about: { url(): string; now(): string }): RouteSpec[] => [
  ...chunkRoutes(uploads, () => about.url()),
  ...releaseRoutes(() => about.now()),
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

/** Tools announce releases before and after an upload. Nothing is kept of it: a release is what is published here. */
function releaseRoutes(now: () => string): RouteSpec[] {
  const view = (name: unknown): object => ({
    version: String(name),
    dateCreated: now(),
    dateReleased: null,
    projects: [],
  });
  const one = joi.object({ org: organization, version });
  const announce = {
    ...shared,
    method: 'POST',
    output: releaseAnswer,
    status: 201,
    summary: 'Take a tool’s announcement of a release',
    description: 'Nothing is kept of it: a release is what is published by `/api/update/v1`.',
    handle: ({ body }: HttpRequest) => new Reply(201, view((body as { version: string }).version)),
  } satisfies Partial<RouteSpec>;
  const body = releaseBody.fork('version', (schema) => schema.required());
  const answerOne = {
    ...shared,
    output: releaseAnswer,
    handle: ({ params }: HttpRequest) => view(params['version']),
  } satisfies Partial<RouteSpec>;
  return [
    {
      ...announce,
      ...at('/organizations/{org}/releases'),
      operationId: 'announceRelease',
      input: { params: joi.object({ org: organization }), body },
    },
    {
      ...announce,
      ...at('/projects/{org}/{project}/releases'),
      operationId: 'announceProjectRelease',
      input: { params: joi.object({ org: organization, project: slug }), body },
    },
    {
      ...answerOne,
      ...at('/organizations/{org}/releases/{version}'),
      method: 'GET',
      operationId: 'getAnnouncedRelease',
      summary: 'Answer a tool’s question for a release',
      input: { params: one },
    },
    {
      ...answerOne,
      ...at('/organizations/{org}/releases/{version}'),
      method: 'PUT',
      operationId: 'finalizeAnnouncedRelease',
      summary: 'Take a tool’s word that a release is out',
      input: { params: one, body: releaseBody },
    },
    {
      ...answerOne,
      ...at('/projects/{org}/{project}/releases/{version}'),
      method: 'PUT',
      operationId: 'finalizeProjectRelease',
      summary: 'Take a tool’s word that a release of a project is out',
      input: { params: one.keys({ project: slug }), body: releaseBody },
    },
    {
      ...shared,
      ...at('/organizations/{org}/repos'),
      method: 'GET',
      operationId: 'listToolRepositories',
      summary: 'The repositories that tools may name commits of: none',
      input: { params: joi.object({ org: organization }) },
      output: joi.array().items(joi.object()),
      handle: () => [],
    },
  ];
}

function fileRoutes(uploads: MapUploads): RouteSpec[] {
  return [
    {
      ...shared,
      ...at('/projects/{org}/{project}/releases/{version}/files'),
      method: 'POST',
      operationId: 'uploadReleaseFile',
      summary: 'Take a script or a source map of a release, as older tools send them',
      description:
        'Parts: `file`; `name`, its address with `~` for scheme and host; `dist`; `header`, where `Sourcemap: <address>` names ' +
        'the map of a script.',
      input: {
        params: joi.object({ org: organization, project: slug, version }),
        mediaType: 'multipart/form-data',
      },
      output: fileAnswer,
      status: 201,
      errors: [...shared.errors, 'payload_too_large'],
      limits: { payload: 'raw', bytes: FILE_BYTES, space: true },
      handle: async (request) => {
        const { project = '', version: release = '' } = request.params;
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
        const { sha1 } = await uploads.file(callerOf(request), { project, release, dist, url: name, mapUrl, bytes });
        return new Reply(201, { id: sha1, name, sha1, dist });
      },
    },
  ];
}

const worded = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

const mapHeader = (header: unknown): string | null =>
  typeof header === 'string' ? (/^(?:x-)?sourcemap:\s*(\S{1,900})\s*$/i.exec(header)?.[1] ?? null) : null;
