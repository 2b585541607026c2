/** Like a web server in front (contract 40, files). */
import { FileAnswer, type RouteSpec } from '../../../kernel/contract/index.js';
import { notFound, ServiceError } from '../../../kernel/errors.js';
import { FileReplaced, type StoredFile } from '../../../ports/release-store.js';
import type { AccessFilesDeps } from './deps.js';
import { parseReleaseFilePlace, ReleaseFileReader } from './release-files.js';
import { getPathSegments, type StoreGuard } from './store-guard.js';

const CONTENT_TYPES: readonly (readonly [ending: string, type: string])[] = [
  ['.tar.gz', 'application/gzip'],
  ['.json', 'application/json'],
  ['.sig', 'text/plain; charset=utf-8'],
];
const PACKAGE_SEGMENTS = 5;

const getContentType = (name: string): string =>
  CONTENT_TYPES.find(([ending]) => name.endsWith(ending))?.[1] ?? 'application/octet-stream';

/** A replaced file causes a retryable error while nothing has been sent. */
async function* streamBytes(
  file: StoredFile,
  { start, end, allocateBuffer }: { start: number; end: number; allocateBuffer: () => Uint8Array },
  whole: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* file.read(start, end, allocateBuffer);
  } catch (error) {
    if (!(error instanceof FileReplaced)) throw error;
    throw new ServiceError('not_ready', 'The file was just replaced: try again.', {
      headers: { 'retry-after': '1' },
      cause: error,
    });
  }
  if (start === 0 && end === file.size) whole();
}

export function createStoreRoute(
  guard: StoreGuard,
  { store, isReleased, downloaded }: Pick<AccessFilesDeps, 'store' | 'isReleased' | 'downloaded'>,
): RouteSpec {
  const files = new ReleaseFileReader(store);
  return {
    method: 'GET',
    path: '/releases/{path*}',
    summary: 'Get a file of the release store',
    description:
      'Packages, manifests, signatures and `latest.json`. HTTP Basic with a license key of the product (`lic_` and the first 16 hex characters of its SHA-256 as the name) or an account, while the product has its access files.',
    tag: 'releases',
    access: { basic: guard },
    hidden: true,
    async handle(request) {
      const segments = getPathSegments(request);
      const wanted = parseReleaseFilePlace(segments);
      if (wanted !== null) {
        if (!(await isReleased(wanted.place))) throw notFound('such file in the release');
        return files.createAnswer(wanted, request);
      }
      const file = await store.open(segments);
      const [product = '', channel = '', version = '', platform = '', name = ''] = segments;
      const place = segments.length === PACKAGE_SEGMENTS ? { product, channel, version, platform } : null;
      // A crash may leave an unpublished release's folder.
      if (file === null || (place !== null && !(await isReleased(place))))
        throw notFound('such file in the release store');
      const whole = (): void => {
        if (place !== null && name === 'package.tar.gz') downloaded(place);
      };
      return new FileAnswer({
        size: file.size,
        etag: `"${file.tag}"`,
        modifiedAt: file.modifiedAt,
        contentType: getContentType(segments.at(-1) ?? ''),
        open: (start, end, allocateBuffer) => streamBytes(file, { start, end, allocateBuffer }, whole),
      }).header('cache-control', 'private, no-cache');
    },
  };
}
