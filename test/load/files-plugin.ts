/** For the figures of downloads: a plugin that serves a folder by `FileAnswer`, and takes uploads that it throws away. */
import { join } from 'node:path';
import { FileAnswer, notFound, type Plugin, type RouteSpec, type UploadedBody } from 'aos/plugin';
import { look, storedFile } from '../../adapters/fs/stored-file.js';

const folder = process.env['BENCH_FILES'] ?? '.';
const common = { summary: 'For the bench', hidden: true, access: 'public', limits: { rate: 'none' } } as const;

const routes: RouteSpec[] = [
  {
    ...common,
    method: 'GET',
    path: '/bench/{name}',
    handle: async ({ params }) => {
      const path = join(folder, params['name'] ?? '');
      const stats = await look(path);
      if (stats === null) throw notFound('file');
      const file = storedFile(path, stats);
      const { size, tag } = file;
      const type = 'application/gzip';
      return new FileAnswer({
        size,
        etag: `"${tag}"`,
        contentType: type,
        open: (start, end, room) => file.read(start, end, room),
      });
    },
  },
  {
    ...common,
    method: 'POST',
    path: '/bench/upload',
    input: {
      stream: {
        mediaTypes: ['application/gzip'],
        multipart: { file: 'package', fields: [], fieldBytes: 1 },
        bytes: 4 * 1024 ** 3,
      },
    },
    handle: async ({ body }) => {
      let bytes = 0;
      for await (const piece of (body as UploadedBody).content) bytes += piece.length;
      return { bytes };
    },
  },
];

const plugin: Plugin = { id: 'bench', version: '1.0.0', api: 1, title: 'Bench', setup: () => ({ routes }) };
export default plugin;
