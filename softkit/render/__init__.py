"""Drawing with pygame: View and Camera. The only part of softkit that imports pygame."""

from softkit.render.camera import Camera
from softkit.render.field_painter import FieldPainter
from softkit.render.mesh import draw_mesh, draw_quad
from softkit.render.painter import Painter, RenderWarning, register
from softkit.render.view import View

__all__ = ["Camera", "FieldPainter", "Painter", "RenderWarning", "View", "draw_mesh", "draw_quad", "register"]
