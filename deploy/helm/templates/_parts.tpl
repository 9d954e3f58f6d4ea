{{/* Every container of codesum: the same image, variables, secrets and files. */}}
{{- define "codesum.container" -}}
- name: {{ .name }}
  image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag }}"
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  args: {{ .command | toJson }}
  env:
    - name: CODESUM_HOME
      value: {{ .root.Values.home | quote }}
    - name: CODESUM_ENGINE__LAUNCHER
      value: celery
    - name: CODESUM_ENGINE__STORAGE
      value: postgres
    - name: CODESUM_ENGINE__MAX_CONCURRENT_RUNS
      value: {{ max 1 (int .root.Values.worker.replicas) | quote }}
    {{- with .root.Values.caBundle }}
    - name: CODESUM_CA_BUNDLE
      value: {{ printf "/etc/codesum/%s" . | quote }}
    {{- end }}
    {{- with .root.Values.identity }}
    {{- if .issuer }}
    - name: CODESUM_IDENTITY__ISSUER
      value: {{ .issuer | quote }}
    {{- with .webUrl }}
    - name: CODESUM_IDENTITY__WEB_URL
      value: {{ . | quote }}
    {{- end }}
    {{- with .clientId }}
    - name: CODESUM_IDENTITY__CLIENT_ID
      value: {{ . | quote }}
    {{- end }}
    {{- with .mcpUrl }}
    - name: CODESUM_IDENTITY__MCP_URL
      value: {{ . | quote }}
    {{- end }}
    - name: CODESUM_IDENTITY__GROUPS
      value: {{ .groups | toJson | quote }}
    {{- end }}
    {{- end }}
    {{- range $name, $value := .root.Values.environment }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
  envFrom:
    {{- range .root.Values.secrets }}
    - secretRef:
        name: {{ . }}
    {{- end }}
  {{- with .port }}
  ports:
    - containerPort: {{ . }}
  readinessProbe:
    tcpSocket:
      port: {{ . }}
  {{- end }}
  {{- with .resources }}
  resources: {{ . | toJson }}
  {{- end }}
  volumeMounts:
    - name: cache
      mountPath: /home/codesum/.cache
    {{- if .root.Values.files }}
    - name: files
      mountPath: /etc/codesum
      readOnly: true
    {{- end }}
{{- end -}}

{{- define "codesum.account" -}}
{{ .Values.serviceAccount.name | default .Release.Name }}
{{- end -}}

{{/* A deployment of some containers, and a service for each that listens. */}}
{{- define "codesum.part" -}}
{{- $root := .root -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .part }}
  labels: {app.kubernetes.io/name: codesum, app.kubernetes.io/instance: {{ .root.Release.Name }}, app.kubernetes.io/component: {{ .part }}}
spec:
  replicas: {{ .values.replicas }}
  {{- if eq .part "daemon" }}
  # A second one must not begin before the first has ended.
  strategy: {type: Recreate}
  {{- end }}
  selector:
    matchLabels: {app.kubernetes.io/instance: {{ .root.Release.Name }}, app.kubernetes.io/component: {{ .part }}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: codesum, app.kubernetes.io/instance: {{ .root.Release.Name }}, app.kubernetes.io/component: {{ .part }}}
    spec:
      serviceAccountName: {{ include "codesum.account" .root }}
      terminationGracePeriodSeconds: {{ .values.stopSeconds | default 60 }}
      securityContext: {runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001}
      containers:
        {{- range .containers }}
        {{- include "codesum.container" (merge . (dict "root" $root)) | nindent 8 }}
        {{- end }}
      volumes:
        - name: cache
          emptyDir: {sizeLimit: {{ .values.cacheSize | default "5Gi" }}}
        {{- with .root.Values.files }}
        - name: files
          secret: {secretName: {{ . }}, defaultMode: 0440}
        {{- end }}
{{- range .containers }}
{{- if .port }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $root.Release.Name }}-{{ .name }}
spec:
  selector: {app.kubernetes.io/instance: {{ $root.Release.Name }}, app.kubernetes.io/component: {{ $.part }}}
  ports:
    - port: 80
      targetPort: {{ .port }}
{{- end }}
{{- end }}
{{- end -}}
