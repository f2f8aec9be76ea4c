/* A driver's management library as far as `inference/server/gpus.py` calls it, with the types of
   NVIDIA's header: two GPUs, of which the second tells neither power nor NVLink. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;
typedef struct {
  unsigned field, scope;
  long long timestamp, latency_us;
  unsigned value_type, status;
  union { double d; unsigned long long ull; } value;
} field_value;

enum { SUCCESS = 0, NOT_SUPPORTED = 3 };
static long handles[2] = {0, 1};
static unsigned long long sent_kib = 0;

static long of(void *device) { return *(long *)device; }

int nvmlInit_v2(void) { return SUCCESS; }

int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return SUCCESS; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  *device = &handles[index];
  return SUCCESS;
}

int nvmlDeviceGetName(void *device, char *name, unsigned length) {
  snprintf(name, length, "NVIDIA H100 80GB HBM3");
  return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
  snprintf(uuid, length, "GPU-%ld", of(device));
  return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *device, utilization *rates) {
  *rates = (utilization){.gpu = 87 - of(device), .memory = 40};
  return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, memory *info) {
  *info = (memory){.total = 80ull << 30, .free = 16ull << 30, .used = 64ull << 30};
  return SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *degrees) {
  *degrees = sensor == 0 ? 61 : 0;
  return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  *milliwatts = 512500;
  return of(device) ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetPcieThroughput(void *device, unsigned way, unsigned *kib) {
  *kib = way == 0 ? 100 : 200;
  return SUCCESS;
}

int nvmlDeviceGetFieldValues(void *device, int count, field_value *values) {
  values->status = of(device) || values->scope != UINT32_MAX ? NOT_SUPPORTED : SUCCESS;
  if (values->field == 138) values->value.ull = sent_kib += 1 << 20;
  if (values->field == 139) values->value.ull = 7;
  return SUCCESS;
}
