{%- extends "nbgrader/manage_assignments.tpl" -%}
{%- block messages -%}
{%- set lesson = "" -%}
{%- include "grade_panel.tpl" -%}
{{ super() }}
{%- endblock -%}
