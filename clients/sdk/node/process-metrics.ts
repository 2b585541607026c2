import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { MetricsReader } from '../host.js';

const NS_PER_MS = 1e6;

export class ProcessMetrics implements MetricsReader {
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });
  #cpu = process.cpuUsage();
  #at = performance.now();

  constructor() {
    this.#delay.enable();
  }

  /** CPU time and delay cover the time since the last reading. */
  read(): Record<string, number> {
    const { user, system } = process.cpuUsage(this.#cpu);
    const elapsed = Math.max(performance.now() - this.#at, 1);
    const { rss, heapUsed } = process.memoryUsage();
    const metrics = {
      process_memory_bytes: rss,
      process_heap_bytes: heapUsed,
      process_cpu_percent: round((user + system) / 10 / elapsed),
      process_event_loop_delay_ms: round(this.#delay.percentile(99) / NS_PER_MS),
      process_uptime_seconds: Math.round(process.uptime()),
    };
    this.#cpu = process.cpuUsage();
    this.#at = performance.now();
    this.#delay.reset();
    return metrics;
  }

  stop(): void {
    this.#delay.disable();
  }
}

const round = (value: number): number => Math.round(value * 100) / 100;
