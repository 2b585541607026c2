/**
 * Requests that a proxy in front may read otherwise are refused (RFC 9112 3.2, 3.3, 5.1, 5.2 and
 * 6).
 */
import { expect } from 'chai';
import joi from 'joi';
import type { RouteSpec } from '../../../../ports/http/index.js';
import { TestServer } from '../support.js';

const GET = 'GET /api/t/v1/asked HTTP/1.1\r\n';
const POST = 'POST /api/t/v1/asked HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const EMPTY = '\r\n\r\n0\r\n\r\n';

/** Those whose names end in a dot are refused by Node's parser itself. */
const REFUSED: Record<string, string> = {
  'two hosts': `${GET}Host: a\r\nHost: b\r\n\r\n`,
  'one host twice': `${GET}Host: a\r\nhOST: a\r\n\r\n`,
  'a list of hosts': `${GET}Host: a, b\r\n\r\n`,
  'a host with a user': `${GET}Host: b@a\r\n\r\n`,
  'a host with a path': `${GET}Host: a/b\r\n\r\n`,
  'a host with a space': `${GET}Host: a b\r\n\r\n`,
  'no host': `${GET}\r\n`,
  'another host in the target': 'GET http://b/api/t/v1/asked HTTP/1.1\r\nHost: a\r\n\r\n',
  'HTTP/2.0': 'GET /api/t/v1/asked HTTP/2.0\r\nHost: a\r\n\r\n',
  'HTTP/0.9': 'GET /api/t/v1/asked\r\n\r\n',
  'gzip, chunked': `${POST}Transfer-Encoding: gzip, chunked${EMPTY}`,
  'gzip, chunked in two lines': `${POST}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked${EMPTY}`,
  'an empty coding': `${POST}Transfer-Encoding:\r\n\r\n`,
  'chunked in HTTP/1.0': `POST /api/t/v1/asked HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked${EMPTY}`,
  'chunked, chunked.': `${POST}Transfer-Encoding: chunked, chunked${EMPTY}`,
  'chunked, gzip.': `${POST}Transfer-Encoding: chunked, gzip${EMPTY}`,
  'gzip alone.': `${POST}Transfer-Encoding: gzip\r\n\r\n`,
  'xchunked.': `${POST}Transfer-Encoding: xchunked${EMPTY}`,
  'a length and chunks.': `${POST}Content-Length: 3\r\nTransfer-Encoding: chunked${EMPTY}`,
  'chunks and a length.': `${POST}Transfer-Encoding: chunked\r\nContent-Length: 3${EMPTY}`,
  'a length twice.': `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
  'a list of lengths.': `${POST}Content-Length: 2, 2\r\n\r\n{}`,
  'a length with a sign.': `${POST}Content-Length: +2\r\n\r\n{}`,
  'an empty length.': `${POST}Content-Length:\r\n\r\n`,
  'a folded line.': `${POST}X: 1\r\n 2\r\n\r\n`,
  'a folded coding.': `${POST}Transfer-Encoding:\r\n chunked${EMPTY}`,
  'a bare LF.': `${GET}Host: a\nX: 1\r\n\r\n`,
  'a bare CR.': `${GET}Host: a\r\nX: 1\rY: 2\r\n\r\n`,
  'a space before the colon.': `${POST}Transfer-Encoding : chunked${EMPTY}`,
  'a name with a space.': `${GET}Host: a\r\nX Y: 1\r\n\r\n`,
  'NUL.': `${GET}Host: a\r\nX: a\0b\r\n\r\n`,
  'a chunk with a bare LF.': `${POST}Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n`,
  'a length in a trailer.': `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n`,
};

const TAKEN: Record<string, string> = {
  'one host': `${GET}Host: a.example:8080\r\n\r\n`,
  'an address': `${GET}Host: [::1]:80\r\n\r\n`,
  'an empty host': `${GET}Host:\r\n\r\n`,
  'HTTP/1.0 without a host': 'GET /api/t/v1/asked HTTP/1.0\r\n\r\n',
  'its own host in the target': 'GET http://A.example/api/t/v1/asked HTTP/1.1\r\nHost: a.example:80\r\n\r\n',
  CHUNKED: `${POST}Transfer-Encoding: CHUNKED\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
};

describe('hapi: protection against request smuggling', () => {
  let requested = 0;
  const route: RouteSpec = {
    method: 'GET',
    path: '/api/t/v1/asked',
    summary: 'test',
    access: 'public',
    limits: { rate: 'none' },
    handle: () => ({ asked: ++requested }),
  };
  const posted: RouteSpec = { ...route, method: 'POST', input: { body: joi.object() } };
  let test: TestServer;
  before(async () => {
    test = await TestServer.create({ routes: [route, posted] });
    await test.start();
  });
  after(() => test.stop());
  beforeEach(() => (requested = 0));

  for (const [name, bytes] of Object.entries(REFUSED)) {
    it(`rejects ${name}, and all bytes that follow`, async () => {
      const connection = test.connect();
      await connection.write(Buffer.from(`${bytes}${GET}Host: x\r\n\r\n`, 'latin1'));
      await connection.until(({ closed }) => closed);
      expect(connection.received).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(connection.received).to.match(/connection: close\r\n/i);
      expect(connection.received).to.match(/x-request-id: /i);
      expect(JSON.parse(connection.received.split('\r\n\r\n')[1] as string).error.code).to.equal('invalid_request');
      expect(requested).to.equal(0);
    });
  }

  for (const [name, bytes] of Object.entries(TAKEN)) {
    it(`accepts ${name}`, async () => {
      const connection = test.connect();
      await connection.write(bytes);
      await connection.until(({ received }) => received.includes('"success"'));
      expect(requested).to.equal(1);
      connection.close();
    });
  }
});
