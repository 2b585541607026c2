import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter } from 'prom-client';
import type { PrometheusMetrics } from './metrics.js';

const RESOLUTION_MS = 10;
const NS_PER_SECOND = 1e9;
const LAG_STATISTICS = ['mean', 'p99', 'max'] as const;

/** @param startedAt milliseconds since the epoch */
export function registerProcessMetrics(metrics: PrometheusMetrics, startedAt: number): void {
  const cpu = new Counter({
    name: 'aos_process_cpu_seconds_total',
    help: 'CPU time of the process, user and system',
    registers: [metrics.registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  cpu.inc(0);
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.gauge(`aos_process_${name}`, help, read);
  gauge('resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
  gauge('heap_bytes', 'Heap in use', () => process.memoryUsage().heapUsed);
  gauge('external_memory_bytes', 'Memory of buffers and native objects', () => process.memoryUsage().external);
  gauge(
    'open_handles',
    'Open resources such as sockets, timers and files',
    () => process.getActiveResourcesInfo().length,
  );
  gauge('start_time_seconds', 'When the process started, in seconds since the epoch', () => startedAt / 1000);
  registerEventLoopLag(metrics);
}

function registerEventLoopLag(metrics: PrometheusMetrics): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const lag = (ns: number): number =>
    Number.isFinite(ns) ? Math.max(0, ns / NS_PER_SECOND - RESOLUTION_MS / 1000) : 0;
  metrics.gauges('aos_eventloop_lag_seconds', 'Event loop delay since the last scrape', 'stat', LAG_STATISTICS, () => {
    const read = { mean: lag(delay.mean), p99: lag(delay.percentile(99)), max: lag(delay.count > 0 ? delay.max : 0) };
    delay.reset();
    return read;
  });
}
