/** The yardstick of downloads: a plain Node server that pipes a read stream. @param argv the folder whose files it serves */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const folder = process.argv[2] ?? '.';
const serve = async ({ url }: IncomingMessage, res: ServerResponse): Promise<void> => {
  const path = join(folder, new URL(url ?? '/', 'http://a').pathname);
  const { size } = await stat(path);
  res.writeHead(200, { 'content-type': 'application/gzip', 'content-length': size });
  // A reader that goes away is its own business.
  await pipeline(createReadStream(path), res).catch(() => undefined);
};
const server = createServer((req, res) => void serve(req, res));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
