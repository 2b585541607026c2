/** Signals of OpenTelemetry that nobody stores here (contract 21, Amendments). */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { buildDroppedSignalRoutes } from '../../../plugins/otlp/dropped-signals.js';
import { TestServer } from '../../adapters/hapi/support.js';
import { ManualClock } from '../access/fixture.js';

describe('otlp: traces and metrics', () => {
  let server: TestServer;
  let clock: ManualClock;
  let warned: number;
  beforeEach(async () => {
    clock = new ManualClock();
    warned = 0;
    const log = { warn: () => void warned++ } as unknown as Parameters<typeof buildDroppedSignalRoutes>[0]['log'];
    server = await TestServer.create({ routes: buildDroppedSignalRoutes({ log, clock }) });
  });

  for (const signal of ['traces', 'metrics'])
    it(`accepts ${signal} in both encodings, compressed and large, with an empty success`, async () => {
      const send = (payload: Buffer, type: string, more: Record<string, string> = {}) =>
        server.ask('POST', `/v1/${signal}`, {
          bearer: 'master:bugtracker:report',
          payload,
          headers: { 'content-type': type, ...more },
        });
      const json = await send(Buffer.from('{"resourceSpans":[]}'), 'application/json');
      expect([json.status, json.body]).to.deep.equal([200, {}]);
      const binary = await send(Buffer.from([10, 0]), 'application/x-protobuf');
      expect(binary.status).to.equal(200);
      expect(binary.headers['content-type']).to.include('application/x-protobuf');
      const large = Buffer.alloc(20 * 1024 * 1024, 7);
      expect((await send(large, 'application/x-protobuf')).status).to.equal(200);
      const packed = await send(gzipSync(large), 'application/x-protobuf', { 'content-encoding': 'gzip' });
      expect(packed.status).to.equal(200);
      expect(warned).to.equal(1);
      clock.forward(3_600_001);
      await send(large, 'application/x-protobuf');
      expect(warned).to.equal(2);
    });

  it('requires a token', async () => {
    expect((await server.ask('POST', '/v1/traces', { payload: Buffer.from('{}') })).status).to.equal(401);
  });
});
